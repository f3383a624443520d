// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/fields_json.hpp"

#include <nlohmann/json.hpp>

#include "sim/scenario/value_text.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

template <class... Kinds>
bool is_any_of(const value::Kind& kind) {
  return (std::holds_alternative<Kinds>(kind) || ...);
}

/// Numbers and booleans are written as such, everything else as in a scenario.
Json value_json(const value::Kind& kind, const FieldValue& field_value) {
  using namespace value;
  if (const auto* names = std::get_if<std::vector<std::string>>(&field_value)) return *names;
  if (const auto* text = std::get_if<std::string>(&field_value)) return *text;
  const auto whole = whole_in(field_value);
  if (is_any_of<Boolean>(kind)) return whole != 0;
  if (is_any_of<Resharding>(kind) && whole <= Fsdp::kept) return whole == Fsdp::over_all;
  if (is_any_of<Whole, WholeOrWord, Gpus, Resharding>(kind)) return whole;
  if (is_any_of<Real, Slowdown, Elements>(kind)) return number_in(field_value);
  return value_text(kind, field_value);
}

}  // namespace

void add_fields(Json& json, const Record& settings,
                const std::function<void(std::string_view key)>& add_own) {
  for (const auto& field : settings.fields()) {
    if (!settings.counts(field)) continue;
    if (field.has_value()) {
      json[std::string{field.key}] = value_json(field.kind, settings.effective_value(field));
    } else if (field.is_group()) {
      const bool is_list = is_any_of<value::Maps>(field.kind);
      for (const auto& group : settings.groups(field)) {
        auto& entry = json[std::string{field.key}];
        (is_list ? entry.emplace_back() : entry) = fields_json(group);
      }
    } else if (add_own) {
      add_own(field.key);
    }
  }
}

Json fields_json(const Record& settings) {
  auto json = Json::object();
  add_fields(json, settings);
  return json;
}

}  // namespace gradway::report
