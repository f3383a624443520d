// SPDX-License-Identifier: Apache-2.0
#include "sim/config/read/fields.hpp"

#include "sim/config/yaml/goal_quantities.hpp"
#include "sim/config/yaml/parse_value.hpp"

namespace gradway::config {
namespace {

/// Reads the maps of a group into new settings.
void read_section(Reader& map, std::string_view key, const Field& field, MutableRecord settings) {
  if (field.is_required && !map.has(key)) map.map(key);  // reports that it is missing
  const auto read = [&](Reader group) {
    read_fields(group, settings.add(field));
    group.finish();
  };
  if (std::holds_alternative<value::Maps>(field.kind)) {
    for (auto& entry : map.maps(key)) read(entry);
  } else if (auto group = map.maybe_map(key)) {
    read(*group);
  }
}

/// Reads two keys that require each other.
std::optional<FieldValue> read_errors(Reader& map, std::string_view median, std::string_view worst) {
  if (!map.has(median) && !map.has(worst)) return std::nullopt;
  const auto of_median = map.required(median, percentage);
  return FieldValue{NumberRows{{of_median, map.required(worst, percentage)}}};
}

std::optional<FieldValue> read_value(Reader& map, std::string_view key, const Field& field,
                                     bool is_required) {
  if (const auto* errors = std::get_if<value::MedianAndWorst>(&field.kind))
    return read_errors(map, key, errors->worst);
  if (std::holds_alternative<value::Names>(field.kind)) return map.list(key, text);
  const auto parse = [&](const Node& node) { return parse_value(field.kind, node); };
  return is_required ? std::optional{map.required(key, parse)} : map.maybe(key, parse);
}

}  // namespace

void read_fields(Reader& map, MutableRecord settings, std::string_view not_required) {
  for (const auto& field : settings.fields()) {
    if (field.is_custom) continue;
    const auto key = map.key_or(field.key, field.former);
    if (field.is_group()) {
      read_section(map, key, field, settings);
    } else if (const auto value = read_value(map, key, field, field.is_required && key != not_required)) {
      settings.assign(field, *value);
    } else if (field.may_be_empty()) {
      settings.assign(field, std::monostate{});
    }
  }
}

}  // namespace gradway::config
