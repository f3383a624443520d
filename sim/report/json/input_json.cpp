// SPDX-License-Identifier: Apache-2.0
#include "sim/report/json/input_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/report/json/fields_json.hpp"
#include "sim/report/text/text.hpp"
#include "sim/scenario/input_fields.hpp"

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
  Json json = Json::object();
  add_fields(json, input, [&](std::string_view key) {
    if (!input.dataset) return;
    if (key == "dataset") json["dataset"] = dataset_json(*input.dataset);
    if (key == "columns" && !input.columns.empty()) json["columns"] = input.columns;
    if (key == "storage" && input.storage) json["storage"] = storage_json(*input.storage);
    if (key == "codec" && input.codec) json["codec"] = input.codec->name;
    if (!input.cache) return;
    if (key == "cache") json["cache"] = Cache::kind_words[static_cast<std::size_t>(input.cache->kind)];
    if (key == "cache_size") json["cache_size"] = exact_bytes_text(input.cache->size);
    if (key == "cache_policy")
      json["cache_policy"] = cache_policy_words[static_cast<std::size_t>(input.cache->policy)];
  });
  return json;
}

}  // namespace gradway::report
