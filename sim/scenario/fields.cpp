// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/fields.hpp"

namespace gradway {
namespace {

template <class Number>
Number number_as(const FieldValue& value) {
  return std::visit(
      [](const auto& held) {
        if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(held)>>) {
          return static_cast<Number>(held);
        } else {
          return Number{};
        }
      },
      value);
}

}  // namespace

std::int64_t whole_in(const FieldValue& value) {
  return number_as<std::int64_t>(value);
}

double number_in(const FieldValue& value) {
  return number_as<double>(value);
}

std::vector<std::string> Tries::values(const KeyContext& context) const {
  if (by_scenario != nullptr) return by_scenario(context);
  constexpr std::string_view comma = ", ";
  std::vector<std::string> list;
  for (auto rest = texts; has_any();) {
    const auto end = rest.find(comma);
    list.emplace_back(rest.substr(0, end));
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + comma.size());
  }
  return list;
}

bool Record::counts(const Field& field) const {
  if (field.is_echoed != nullptr && !field.access->is_echoed(field, place(field))) return false;
  return !field.has_value() || !field.may_be_empty() || !is_empty(effective_value(field));
}

void reset_ineffective_fields(MutableRecord settings) {
  for (const auto& field : settings.fields())
    if (!field.is_custom && !settings.counts(field)) settings.assign(field, field.default_value());
}

}  // namespace gradway
