// SPDX-License-Identifier: Apache-2.0
#include "sim/config/read/input.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/nearest.hpp"
#include "sim/config/read/fields.hpp"
#include "sim/config/yaml/quantities.hpp"
#include "sim/scenario/dataset_fields.hpp"
#include "sim/scenario/input_fields.hpp"

namespace gradway::config {
namespace {

constexpr auto caches = choices_of<Cache::Kind>(Cache::kind_words);
constexpr auto cache_policies = choices_of<CachePolicy>(cache_policy_words);

/// What stands in the scenario itself, or the name of a file.
template <class Value>
struct Said {
  std::optional<Value> value{};
  std::optional<Named> name{};
};

template <class Value>
auto name_or(Value (*read)(Reader&, const std::string&), Problems& problems) {
  return [read, &problems](const Node& node) {
    if (node.kind != Node::Kind::map) return Said<Value>{.name = named(node)};
    Reader reader{node, node.where, problems};
    return Said<Value>{.value = read(reader, "")};
  };
}

Codec codec(const Node& node) {
  return codecs()[index_of_word(value::Words{"a codec", codec_words}, node)];
}

/// Of Parquet: what lies in its columns takes the place of the size of a sample.
void read_columns(Reader& file, Dataset& dataset) {
  for (const auto* key : {"sample_size", "request", "compressible"})
    file.forbid(key, "this follows from the columns of a Parquet file", "leave it out");
  dataset.compressible = false;
  dataset.row_group = file.required("row_group", number(1, 1e12));
  std::vector<Column> columns;
  for (auto& one : file.maps("columns")) {
    Column column{.name = one.required("name", text), .size = one.required("size", mean_bytes)};
    column.unpacked = one.optional("unpacked", mean_bytes, column.size);
    column.codec = one.maybe("codec", codec);
    if (std::ranges::find(columns, column.name, &Column::name) != columns.end())
      one.error(one.value_place("name"), fmt::format("a second column '{}'", column.name), "");
    one.finish();
    columns.push_back(std::move(column));
  }
  dataset = with_columns(std::move(dataset), std::move(columns));
  if (file.sound() && dataset.sample_size == 0_B)
    file.error(file.key_place("format"), "a Parquet file needs columns with something in them",
               "columns: [ { name: image, size: 110 kB } ]");
}

/// Required of a file; a scenario may give its own figures without one.
std::string source_of(Reader& file, const std::string& name) {
  return name.empty() ? file.optional("source", text, std::string{}) : file.required("source", text);
}

}  // namespace

Dataset read_dataset(Reader& file, const std::string& name) {
  Dataset dataset;
  dataset.name = name;
  dataset.source = source_of(file, name);
  read_fields(file, dataset);
  if (dataset.format == SampleFormat::tokens && !dataset.content) dataset.content = SampleContent::text;
  if (dataset.format == SampleFormat::parquet) {
    read_columns(file, dataset);
  } else {
    for (const auto* key : {"columns", "row_group"})
      file.forbid(key, fmt::format("the format {} has none", name_of(dataset.format)),
                  "write 'format: parquet', or leave it out");
    dataset.sample_size = file.required("sample_size", bytes);
    dataset.request = file.optional("request", bytes, Bytes{});
    dataset.compressible = file.optional("compressible", boolean, dataset.compressible);
  }
  if (auto cpu = file.maybe_map("cpu")) dataset.cpu = read_group<Dataset::Cpu>(std::move(*cpu));
  if (dataset.request > 0_B &&
      (dataset.format == SampleFormat::files || dataset.format == SampleFormat::tokens))
    file.error(file.key_place("request"),
               fmt::format("a request brings a sample where the format is {}", name_of(dataset.format)),
               "leave it out, or set the format to shards or pages");
  file.finish();
  return dataset;
}

StorageTier read_storage(Reader& file, const std::string& name) {
  StorageTier tier;
  tier.name = name;
  tier.source = source_of(file, name);
  read_fields(file, tier);
  if (tier.first_byte_spread > 0 && tier.first_byte == Seconds{} && file.sound())
    file.error(file.key_place("first_byte_spread"), "there is no first_byte that could vary",
               "give first_byte, its mean, or leave this out");
  if (auto burst = file.maybe_map("burst")) {
    tier.burst.emplace();
    read_fields(*burst, *tier.burst);
    if (burst->sound() && tier.burst->sustained >= tier.read)
      burst->error(burst->key_place("sustained"), "what is sustained is less than 'read', the burst's rate",
                   "", {{file.key_place("read"), "'read' is here"}});
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
  const auto refuse = [&](const std::string& what, const std::string& hint) {
    problems.add(ConfigError{Problem{spec.place("input.columns"), what, {}, hint}});
  };
  if (dataset->format != SampleFormat::parquet)
    return refuse("the dataset has no columns: it is no Parquet file", "leave input.columns out");
  std::vector<std::string> names;
  for (const auto& column : dataset->columns) names.push_back(column.name);
  std::vector<Column> chosen;
  for (const auto& name : wanted) {
    const auto found = std::ranges::find(dataset->columns, name, &Column::name);
    if (found == dataset->columns.end())
      return refuse(fmt::format("the dataset has no column '{}'", name), suggestion(name, names));
    if (std::ranges::find(chosen, name, &Column::name) == chosen.end()) chosen.push_back(*found);
  }
  *dataset = with_columns(std::move(*dataset), std::move(chosen));
  if (dataset->sample_size == 0_B) refuse("these columns hold nothing", "read others too");
}

namespace {

/// What a prefetch cannot be beside.
void check_prefetch(Reader& input, const InputSettings& settings) {
  if (!settings.prefetch) return;
  const auto refuse = [&](std::string_view key, const std::string& what, const std::string& hint) {
    input.error(input.value_place(key), what, hint,
                {{input.value_place("prefetch"), "the prefetch is here"}});
  };
  if (!settings.pin_memory)
    refuse("pin_memory", "the CPU waits for a copy from pageable memory, so none can run beside the step",
           "leave pin_memory out, or write 'prefetch: none'");
  if (settings.epoch_steps)
    refuse("epoch_steps",
           "an epoch is simulated from empty queues, and a prefetch has a batch before its first step",
           "leave one of them out");
}

}  // namespace

void read_input(Reader input, ScenarioSpec& spec) {
  auto& result = spec.job.input;
  read_fields(input, result);
  auto dataset = input.optional("dataset", name_or(read_dataset, input.problems()), {});
  result.dataset = std::move(dataset.value);
  spec.dataset = std::move(dataset.name);
  const bool loads = result.dataset || spec.dataset;
  const auto needs_dataset = [&](const char* key) {
    if (loads || !input.has(key)) return;
    input.error(input.key_place(key),
                fmt::format("input.{} changes nothing: samples are in memory, ready", key),
                "name an input.dataset that they come from");
  };
  for (const auto* key : {"storage", "cache", "codec", "epoch_steps", "columns"}) needs_dataset(key);
  result.columns = input.list("columns", text);
  auto storage = input.optional("storage", name_or(read_storage, input.problems()), {});
  result.storage = std::move(storage.value);
  spec.storage = std::move(storage.name);
  if (result.persistent_workers && result.loader_workers == 0)
    input.error(input.key_place("persistent_workers"), "there are no input.loader_workers that could stay",
                "give some, or leave persistent_workers out: PyTorch refuses it, too");
  result.codec = input.maybe("codec", codec);
  if (result.batch_overhead == Seconds{} && result.batch_overhead_spread > 0)
    input.forbid("batch_overhead_spread", "there is no input.batch_overhead that could vary",
                 "give it, its mean, or leave this out");
  check_prefetch(input, result);
  const auto policy =
      input.optional("cache_policy", one_of("a cache policy", cache_policies), CachePolicy::keeps);
  if (const auto kind = input.maybe("cache", one_of("a cache", caches))) {
    result.cache = Cache{.kind = *kind, .size = input.required("cache_size", bytes)};
    result.cache->policy = policy;
    if (*kind == Cache::Kind::local_nvme) spec.cache = Named{"local-nvme", input.value_place("cache")};
  } else {
    input.forbid("cache_size", "there is no input.cache", "name one, or leave it out");
  }
  input.finish("input");
}

}  // namespace gradway::config
