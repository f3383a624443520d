// SPDX-License-Identifier: Apache-2.0
#include "sim/config/read/fields.hpp"

#include "sim/config/yaml/parse_value.hpp"

namespace gradway::config {

void read_fields(Reader& map, MutableRecord settings, std::string_view not_required) {
  for (const auto& field : settings.fields()) {
    if (field.is_custom) continue;
    const auto parse = [&](const Node& node) { return parse_value(field.kind, node); };
    const bool is_required = field.is_required && field.key != not_required;
    const auto value =
        is_required ? std::optional{map.required(field.key, parse)} : map.maybe(field.key, parse);
    if (value) {
      settings.assign(field, *value);
    } else if (field.may_be_empty()) {
      settings.assign(field, std::monostate{});
    }
  }
}

}  // namespace gradway::config
