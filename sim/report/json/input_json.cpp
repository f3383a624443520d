// SPDX-License-Identifier: Apache-2.0
#include "sim/report/json/input_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/report/text/text.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

std::string in_units(Seconds time) {
  return fmt::format("{} s", time.value());
}

std::string in_units(BytesPerSecond rate) {
  return fmt::format("{} B/s", rate.value());
}

Json dataset_json(const Dataset& dataset) {
  if (!dataset.name.empty()) return dataset.name;
  Json json{{"samples", dataset.samples},
            {"spread", dataset.spread},
            {"format", name_of(dataset.format)},
            {"cpu",
             {{"decode", in_units(dataset.decode)},
              {"transform", in_units(dataset.transform)},
              {"collate", in_units(dataset.collate)}}}};
  if (dataset.content) json["content"] = name_of(*dataset.content);
  if (dataset.core_error) json["cpu"]["error"] = *dataset.core_error;
  if (dataset.gpu_decode > Seconds{}) json["gpu_decode"] = in_units(dataset.gpu_decode);
  if (dataset.delivered > 0_B) json["delivered"] = exact_bytes_text(dataset.delivered);
  if (dataset.format == SampleFormat::parquet) {
    json["row_group"] = dataset.row_group;
    for (const auto& column : dataset.columns) {
      auto& one = json["columns"].emplace_back(Json{{"name", column.name},
                                                    {"size", exact_bytes_text(column.size)},
                                                    {"unpacked", exact_bytes_text(column.unpacked)}});
      if (column.codec) one["codec"] = column.codec->name;
    }
    return json;
  }
  json["sample_size"] = exact_bytes_text(dataset.sample_size);
  json["compressible"] = dataset.compressible;
  if (dataset.request > 0_B) json["request"] = exact_bytes_text(dataset.request);
  return json;
}

Json storage_json(const StorageTier& tier) {
  if (!tier.name.empty()) return tier.name;
  Json json{
      {"kind", name_of(tier.kind)}, {"read", in_units(tier.read)}, {"first_byte", in_units(tier.first_byte)}};
  if (tier.first_byte_spread > 0) json["first_byte_spread"] = tier.first_byte_spread;
  if (tier.error) json["error"] = *tier.error;
  if (tier.write) json["write"] = in_units(*tier.write);
  if (tier.per_node) json["per_node"] = in_units(*tier.per_node);
  if (tier.per_connection) json["per_connection"] = in_units(*tier.per_connection);
  if (tier.requests_per_second) json["requests_per_second"] = *tier.requests_per_second;
  if (tier.burst)
    json["burst"] = {{"credit", exact_bytes_text(tier.burst->credit)},
                     {"sustained", in_units(tier.burst->sustained)}};
  if (tier.as_of.empty()) return json;
  auto& price = json["price"] = {{"as_of", tier.as_of}};
  if (tier.usd_per_gb_month) price["usd_per_gb_month"] = *tier.usd_per_gb_month;
  if (tier.usd_per_million_requests) price["usd_per_million_requests"] = *tier.usd_per_million_requests;
  if (tier.usd_per_gb_out) price["usd_per_gb_out"] = *tier.usd_per_gb_out;
  return json;
}

}  // namespace

Json input_json(const InputSettings& input) {
  Json json{{"pin_memory", input.pin_memory},
            {"loader_workers", input.loader_workers},
            {"prefetch", input.prefetch ? name_of(*input.prefetch) : "none"},
            {"background_copy", exact_bytes_text(input.background_copy)},
            {"background_start", name_of(input.background_start)}};
  if (!input.dataset) return json;
  json["prefetch_factor"] = input.prefetch_factor;
  json["persistent_workers"] = input.persistent_workers;
  json["worker_start"] = in_units(input.worker_start);
  json["sample_sizes"] = input.draws_sizes ? "drawn" : "mean";
  json["batch_overhead"] = in_units(input.batch_overhead);
  json["batch_overhead_spread"] = input.batch_overhead_spread;
  if (input.epoch_steps) json["epoch_steps"] = *input.epoch_steps;
  json["dataset"] = dataset_json(*input.dataset);
  if (!input.columns.empty()) json["columns"] = input.columns;
  if (input.storage) json["storage"] = storage_json(*input.storage);
  json["storage_network"] = input.shares_network ? "shared" : "own";
  json["storage_weight"] = input.storage_weight;
  if (input.codec) json["codec"] = input.codec->name;
  json["decode"] = input.decode_on_gpu ? "gpu" : "cpu";
  json["epoch"] = input.first_epoch ? "first" : "later";
  if (!input.cache) return json;
  json["cache"] = Cache::kind_words[static_cast<std::size_t>(input.cache->kind)];
  json["cache_size"] = exact_bytes_text(input.cache->size);
  json["cache_policy"] = cache_policy_words[static_cast<std::size_t>(input.cache->policy)];
  return json;
}

}  // namespace gradway::report
