// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/scenario_json.hpp"

#include <nlohmann/json.hpp>

#include "sim/report/format/fields_json.hpp"
#include "sim/report/format/text.hpp"

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
  auto json = fields_json(dataset);
  for (const auto& column : dataset.columns) json["columns"].push_back(column_json(column));
  return json;
}

Json storage_json(const StorageTier& tier) {
  if (!tier.name.empty()) return tier.name;
  return fields_json(tier);
}

}  // namespace

Json input_json(const InputSettings& input) {
  Json json = Json::object();
  add_fields(json, input, [&](std::string_view key) {
    if (!input.dataset) return;
    if (key == "dataset") json["dataset"] = dataset_json(*input.dataset);
    if (key == "storage" && input.storage) json["storage"] = storage_json(*input.storage);
    if (key == "staged_from" && input.staged_from) json["staged_from"] = storage_json(*input.staged_from);
  });
  return json;
}

}  // namespace gradway::report
