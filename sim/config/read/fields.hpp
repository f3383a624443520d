// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/yaml/parse_value.hpp"
#include "sim/config/yaml/reader.hpp"
#include "sim/scenario/fields.hpp"

namespace gradway::config {

/// Reads the keys of a table of fields from a map. Members of absent keys do not change.
/// @param not_required a required key that is optional here
template <class Settings>
void read_fields(Reader& map, Settings& settings, std::string_view not_required = {}) {
  for_each_field<Settings>([&](const auto& field) {
    auto& member = settings.*field.member;
    using Member = std::remove_reference_t<decltype(member)>;
    constexpr bool can_be_none =
        std::is_same_v<std::remove_cvref_t<decltype(field.kind)>, value::WordsOrNone>;
    using Value = std::conditional_t<can_be_none, Member, PlainValue<Member>>;
    const auto parse = [&](const Node& node) { return parse_value<Value>(field.kind, node); };
    if constexpr (can_be_none) {
      member = map.optional(field.key, parse, member);
    } else if constexpr (is_optional_v<Member>) {
      member = map.maybe(field.key, parse);
    } else if (field.traits.is_required && field.key != not_required) {
      member = map.required(field.key, parse);
    } else {
      member = map.optional(field.key, parse, member);
    }
  });
}

/// Reads a group whose keys are all in the table of its settings.
template <class Settings>
Settings read_group(Reader group) {
  Settings result;
  read_fields(group, result);
  group.finish();
  return result;
}

}  // namespace gradway::config
