// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "sim/scenario/fields.hpp"
#include "sim/scenario/value_text.hpp"

/// Settings in the form of a scenario file, by their tables of fields.
namespace gradway::report {

template <class Kind, class Member>
nlohmann::ordered_json value_json(const Kind& kind, const Member& member) {
  return value::text(kind, member);
}
// Numbers and booleans are written as such.
inline nlohmann::ordered_json value_json(const value::Boolean&, bool enabled) {
  return enabled;
}
inline nlohmann::ordered_json value_json(const value::Whole&, int number) {
  return number;
}
inline nlohmann::ordered_json value_json(const value::Gpus&, int count) {
  return count;
}
inline nlohmann::ordered_json value_json(const value::Real&, double number) {
  return number;
}
inline nlohmann::ordered_json value_json(const value::Slowdown&, double times) {
  return times;
}
inline nlohmann::ordered_json value_json(const value::Elements&, double count) {
  return count;
}
inline nlohmann::ordered_json value_json(const value::Resharding& kind, int over) {
  if (over <= Fsdp::kept) return over == Fsdp::over_all;
  return value_json(value::Whole{2, kind.most}, over);
}

/// Adds the keys that have an effect, in the order of the table.
/// @param add_own called with each key that needs code of its own
template <class Settings, class AddOwn>
void add_fields(nlohmann::ordered_json& json, const Settings& settings, const AddOwn& add_own) {
  for_each_row<Settings>([&](const auto& row) {
    if constexpr (is_custom_field_v<decltype(row)>) {
      add_own(row.key);
    } else {
      if (!counts(row, settings)) return;
      const auto member = effective_value(row, settings);
      using Row = std::remove_cvref_t<decltype(row)>;
      if constexpr (is_optional_v<std::remove_cvref_t<decltype(member)>> &&
                    !std::is_same_v<decltype(Row::kind), value::WordsOrNone>) {
        json[std::string{row.key}] = value_json(row.kind, *member);
      } else {
        json[std::string{row.key}] = value_json(row.kind, member);
      }
    }
  });
}

template <class Settings>
void add_fields(nlohmann::ordered_json& json, const Settings& settings) {
  add_fields(json, settings, [](std::string_view) {});
}

/// Settings whose table describes all keys.
template <class Settings>
nlohmann::ordered_json fields_json(const Settings& settings) {
  auto json = nlohmann::ordered_json::object();
  add_fields(json, settings);
  return json;
}

}  // namespace gradway::report
