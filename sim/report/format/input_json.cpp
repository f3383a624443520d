// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/scenario_json.hpp"

#include <nlohmann/json.hpp>

#include "sim/report/format/fields_json.hpp"
#include "sim/report/format/text.hpp"
#include "sim/scenario/dataset_fields.hpp"
#include "sim/scenario/input_fields.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

Json column_json(const Column& column) {
  Json json{{"name", column.name},
            {"size", exact_bytes_text(column.size)},
            {"unpacked", exact_bytes_text(column.unpacked)}};
  if (column.codec) json["codec"] = column.codec->name;
  return json;
}

/// @param with_rows the dataset, of which a predicate may select rows
Json dataset_json(const Dataset& with_rows) {
  if (!with_rows.name.empty()) return with_rows.name;
  const auto dataset = without_predicate(with_rows);
  const bool has_columns = dataset.format == SampleFormat::parquet;
  Json json = Json::object();
  add_fields(json, dataset, [&](std::string_view key) {
    if (key == "source" && !dataset.source.empty()) json["source"] = dataset.source;
    if (key == "cpu") json["cpu"] = fields_json(dataset.cpu);
    if (has_columns) {
      if (key == "row_group") json["row_group"] = dataset.row_group;
      if (key == "columns")
        for (const auto& column : dataset.columns) json["columns"].push_back(column_json(column));
      return;
    }
    if (key == "sample_size") json["sample_size"] = exact_bytes_text(dataset.sample_size);
    if (key == "compressible") json["compressible"] = dataset.compressible;
    if (key == "request" && dataset.request > 0_B) json["request"] = exact_bytes_text(dataset.request);
  });
  return json;
}

Json storage_json(const StorageTier& tier) {
  if (!tier.name.empty()) return tier.name;
  Json json = Json::object();
  add_fields(json, tier, [&](std::string_view key) {
    if (key == "source" && !tier.source.empty()) json["source"] = tier.source;
    if (key == "burst" && tier.burst) json["burst"] = fields_json(*tier.burst);
    if (key == "price" && tier.price.is_known()) json["price"] = fields_json(tier.price);
  });
  return json;
}

}  // namespace

Json input_json(const InputSettings& input) {
  Json json = Json::object();
  add_fields(json, input, [&](std::string_view key) {
    if (!input.dataset) return;
    if (key == "dataset") json["dataset"] = dataset_json(*input.dataset);
    if (key == "columns" && !input.columns.empty()) json["columns"] = input.columns;
    if (key == "predicate" && input.predicate) json["predicate"] = fields_json(*input.predicate);
    if (key == "storage" && input.storage) json["storage"] = storage_json(*input.storage);
    if (key == "staged_from" && input.staged_from) json["staged_from"] = storage_json(*input.staged_from);
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
