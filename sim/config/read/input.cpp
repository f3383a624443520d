// SPDX-License-Identifier: Apache-2.0
#include "sim/config/read/input.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/nearest.hpp"
#include "sim/config/read/fields.hpp"
#include "sim/config/yaml/parse_value.hpp"
#include "sim/config/yaml/quantities.hpp"

namespace gradway::config {
namespace {

/// A value that the scenario contains, or the name of its file.
template <class Value>
struct InlineOrNamed {
  std::optional<Value> value{};
  std::optional<Named> name{};
};

template <class Value>
auto name_or(Value (*read)(Reader&, const std::string&), Problems& problems) {
  return [read, &problems](const Node& node) {
    if (node.kind != Node::Kind::map) return InlineOrNamed<Value>{.name = named(node)};
    Reader reader{node, node.where, problems};
    return InlineOrNamed<Value>{.value = read(reader, "")};
  };
}

Codec codec(const Node& node) {
  return codecs()[index_among("a codec", codec_names(), node)];
}

/// Reads the columns of a Parquet dataset, from which the sample size follows.
void read_columns(Reader& file, Dataset& dataset) {
  for (const auto* key : {"sample_size", "request", "compressible"})
    file.forbid(key, fmt::format("'{}' has no effect: it follows from the columns of a Parquet file", key),
                "leave it out");
  dataset.compressible = false;
  dataset.row_group = file.required("row_group", number(1, 1e12));
  std::vector<Column> columns;
  for (auto& entry : file.maps("columns")) {
    Column column{.name = entry.required("name", text), .size = entry.required("size", mean_bytes)};
    column.unpacked = entry.optional("unpacked", mean_bytes, column.size);
    column.codec = entry.maybe("codec", codec);
    if (std::ranges::find(columns, column.name, &Column::name) != columns.end())
      entry.error(entry.value_place("name"), fmt::format("duplicate column '{}'", column.name), "");
    entry.finish();
    columns.push_back(std::move(column));
  }
  dataset = with_columns(std::move(dataset), std::move(columns));
  if (file.is_valid() && dataset.sample_size == 0_B)
    file.error(file.key_place("format"), "a Parquet file requires columns that are not empty",
               "write columns such as 'columns: [ { name: image, size: 110 kB } ]'");
}

/// The source is required in a file, and optional in a scenario.
std::string source_of(Reader& file, const std::string& name) {
  return name.empty() ? file.optional("source", text, std::string{}) : file.required("source", text);
}

}  // namespace

Dataset read_dataset(Reader& file, const std::string& name) {
  Dataset dataset;
  dataset.name = name;
  dataset.source = source_of(file, name);
  read_fields(file, dataset);
  if (dataset.samples != std::floor(dataset.samples))
    file.error(file.value_place("samples"), "a dataset has a whole number of samples",
               "write a whole number");
  if (dataset.format == SampleFormat::tokens && !dataset.content) dataset.content = SampleContent::text;
  if (dataset.format == SampleFormat::parquet) {
    read_columns(file, dataset);
  } else {
    for (const auto* key : {"columns", "row_group"})
      file.forbid(key, fmt::format("'{}' requires the format parquet, not {}", key, name_of(dataset.format)),
                  "write 'format: parquet', or leave it out");
    dataset.sample_size = file.required("sample_size", bytes);
    dataset.request = file.optional("request", bytes, Bytes{});
    dataset.compressible = file.optional("compressible", boolean, dataset.compressible);
  }
  if (auto cpu = file.maybe_map("cpu")) dataset.cpu = read_group<Dataset::Cpu>(std::move(*cpu));
  if (dataset.request > 0_B && reads_by_sample(dataset.format))
    file.error(file.key_place("request"),
               fmt::format("'request' has no effect: with format {} each request reads one sample",
                           name_of(dataset.format)),
               "leave it out, or set the format to shards or pages");
  file.finish();
  return dataset;
}

StorageTier read_storage(Reader& file, const std::string& name) {
  StorageTier tier;
  tier.name = name;
  tier.source = source_of(file, name);
  read_fields(file, tier);
  if (tier.first_byte_spread > 0 && tier.first_byte == Seconds{} && file.is_valid())
    file.error(file.key_place("first_byte_spread"), "'first_byte_spread' requires 'first_byte'",
               "set first_byte to the mean, or leave it out");
  if (auto burst = file.maybe_map("burst")) {
    tier.burst = StorageTier::Burst{};
    read_fields(*burst, *tier.burst);
    if (burst->is_valid() && tier.burst->sustained >= tier.read)
      burst->error(burst->key_place("sustained"),
                   "'sustained' must be less than 'read', the rate of the burst", "",
                   {{file.key_place("read"), "'read' is here"}});
    burst->finish();
  }
  if (auto price = file.maybe_map("price")) tier.price = read_group<StorageTier::Price>(std::move(*price));
  file.finish();
  return tier;
}

void choose_columns(ScenarioSpec& spec, Problems& problems) {
  const auto& wanted = spec.job.input.columns;
  auto& dataset = spec.job.input.dataset;
  if (wanted.empty() || !dataset) return;
  const auto refuse = [&](const std::string& message, const std::string& hint) {
    problems.add(ConfigError{Problem{spec.place("input.columns"), message, {}, hint}});
  };
  if (dataset->format != SampleFormat::parquet)
    return refuse("input.columns requires a Parquet dataset", "leave input.columns out");
  std::vector<std::string> names;
  for (const auto& column : dataset->columns) names.push_back(column.name);
  std::vector<Column> chosen;
  for (const auto& name : wanted) {
    const auto column = std::ranges::find(dataset->columns, name, &Column::name);
    if (column == dataset->columns.end())
      return refuse(fmt::format("the dataset has no column '{}'", name), suggestion(name, names));
    if (std::ranges::find(chosen, name, &Column::name) == chosen.end()) chosen.push_back(*column);
  }
  *dataset = with_columns(std::move(*dataset), std::move(chosen));
  if (dataset->sample_size == 0_B) refuse("the chosen columns are empty", "choose other columns");
}

namespace {

/// Reports settings that conflict with a prefetch.
void check_prefetch(Reader& input, const InputSettings& settings) {
  if (!settings.prefetch) return;
  const auto refuse = [&](std::string_view key, const std::string& message, const std::string& hint) {
    input.error(input.value_place(key), message, hint,
                {{input.value_place("prefetch"), "prefetch is set here"}});
  };
  if (!settings.pin_memory)
    refuse("pin_memory", "prefetch requires pinned memory: the CPU waits for a copy from pageable memory",
           "leave pin_memory out, or write 'prefetch: none'");
  if (settings.epoch_steps)
    refuse("epoch_steps",
           "epoch_steps conflicts with prefetch: an epoch starts with empty queues, but a prefetch needs a "
           "batch before its first step",
           "keep one of them");
}

}  // namespace

namespace {

/// Reports keys that lack the ones they need.
void check_places(Reader& input, const InputSettings& settings) {
  const auto refuse = [&](std::string_view key, const std::string& message, const std::string& hint) {
    input.error(input.key_place(key), message, hint);
  };
  const bool in_cache = settings.codec_in == CodecPlace::cache;
  if (settings.codec_in != CodecPlace::everywhere && !settings.codec)
    refuse("codec_in", "input.codec_in requires input.codec", "set codec, or leave it out");
  if ((in_cache || settings.codec_in == CodecPlace::store_and_network) && !settings.cache)
    refuse("codec_in", fmt::format("input.codec_in {} requires input.cache", name_of(settings.codec_in)),
           "set cache and cache_size, or choose another place");
  const bool dedups_cache = settings.dedup == DedupPlace::cache || settings.dedup == DedupPlace::network;
  if (dedups_cache && (!settings.cache || settings.cache->policy != CachePolicy::keeps))
    refuse("dedup",
           fmt::format("input.dedup {} requires a cache that keeps what it holds", name_of(settings.dedup)),
           "set cache, cache_size and cache_policy: keeps, or choose store");
  if (settings.cache_prefetch && !settings.cache)
    refuse("cache_prefetch", "input.cache_prefetch requires input.cache", "set cache and cache_size");
  if (settings.cache_prefetch && settings.loader != LoaderKind::pytorch)
    refuse("cache_prefetch",
           fmt::format("input.cache_prefetch is not modelled with the loader {}", name_of(settings.loader)),
           "write 'loader: pytorch', or leave it out");
  if (settings.cache_prefetch && settings.loader_workers == 0)
    refuse("cache_prefetch", "input.cache_prefetch requires loader_workers above 0", "set loader_workers");
  if (settings.cache_prefetch && settings.stage_in == StageIn::during)
    refuse("cache_prefetch", "input.cache_prefetch conflicts with stage_in: during",
           "stage before the job, or leave one of them out");
}

}  // namespace

void check_staging(const ScenarioSpec& spec, Problems& problems) {
  const auto& input = spec.job.input;
  const auto refuse = [&](const char* key, const std::string& message, const std::string& hint) {
    problems.add(spec.place(key), message, hint);
  };
  const bool is_read = input.staged_from && !input.staged_from->name.empty();
  if (is_read && input.staged_from->is_local())
    refuse("input.staged_from",
           fmt::format("a dataset cannot be staged from a {}: each node has its own",
                       name_of(input.staged_from->kind)),
           "choose a tier that all nodes share, such as s3-standard");
  if (is_read && input.storage && input.staged_from->name == input.storage->name)
    refuse("input.staged_from", fmt::format("the dataset is staged from {} to itself", input.storage->name),
           "choose another input.storage, or leave staged_from out");
  if (input.dedup != DedupPlace::none && input.dataset && input.dataset->duplicates == 0)
    refuse("input.dedup", "input.dedup has no effect: the dataset has no duplicates",
           "set duplicates in the dataset, or leave dedup out");
}

void read_input(Reader input, ScenarioSpec& spec) {
  auto& result = spec.job.input;
  read_fields(input, result);
  auto dataset = input.optional("dataset", name_or(read_dataset, input.problems()), {});
  result.dataset = std::move(dataset.value);
  spec.dataset = std::move(dataset.name);
  result.columns = input.list("columns", text);
  auto storage = input.optional("storage", name_or(read_storage, input.problems()), {});
  result.storage = std::move(storage.value);
  spec.storage = std::move(storage.name);
  spec.staged_from = input.maybe("staged_from", named);
  if (input.has("staged_from") && !input.has("storage"))
    input.error(input.key_place("staged_from"),
                "input.staged_from requires input.storage, the tier that the dataset is copied to",
                "set storage, such as local-nvme");
  if (result.loader == LoaderKind::pytorch && result.persistent_workers && result.loader_workers == 0)
    input.error(input.key_place("persistent_workers"),
                "input.persistent_workers requires loader_workers above 0",
                "set loader_workers, or leave persistent_workers out; PyTorch refuses it as well");
  result.codec = input.maybe("codec", codec);
  if (result.batch_overhead == Seconds{} && result.batch_overhead_spread > 0)
    input.forbid("batch_overhead_spread", "'batch_overhead_spread' requires 'batch_overhead'",
                 "set batch_overhead to the mean, or leave it out");
  check_prefetch(input, result);
  check_loader(input, result);
  if (auto predicate = input.maybe_map("predicate"))
    result.predicate = read_group<Predicate>(std::move(*predicate));
  const auto policy = input.optional(
      "cache_policy", one_of<CachePolicy>("a cache policy", cache_policy_words), CachePolicy::keeps);
  if (const auto kind = input.maybe("cache", one_of<Cache::Kind>("a cache", Cache::kind_words))) {
    result.cache = Cache{.kind = *kind, .size = input.required("cache_size", bytes)};
    result.cache->policy = policy;
    if (*kind == Cache::Kind::local_nvme) spec.cache = Named{"local-nvme", input.value_place("cache")};
  } else {
    input.forbid("cache_size", "'cache_size' has no effect without 'cache'", "set cache, or leave it out");
    if (policy != CachePolicy::keeps)
      input.error(input.value_place("cache_policy"), "'cache_policy' has no effect without 'cache'",
                  "set cache, or leave it out");
  }
  check_places(input, result);
  input.finish("input");
}

}  // namespace gradway::config
