// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/config/find/scenario_keys.hpp"
#include "sim/scenario/fields.hpp"
#include "sim/scenario/value_text.hpp"

namespace gradway::config {

template <class Kind, class Member>
std::string default_text(const Kind& kind, const Member& member) {
  if constexpr (std::is_same_v<Kind, value::Amount> && std::is_same_v<Member, Seconds>) {
    return value::readable_text(kind, member.value());
  } else {
    return value_text(kind, member);
  }
}

/// The rows of a table of fields, as keys of a scenario. @param group "job."
template <class Settings>
std::vector<ScenarioKey> described_fields(std::string_view group) {
  std::vector<ScenarioKey> keys;
  for_each_row<Settings>([&](const auto& row) {
    auto& key = keys.emplace_back(
        ScenarioKey{std::string{group} + std::string{row.key}, row.kind, std::string{row.help}});
    if constexpr (is_own_field_v<decltype(row)>) {
      key.otherwise = row.otherwise;
      key.is_required = row.is_required;
      key.outside_identity = row.outside_identity;
    } else {
      key.is_required = row.traits.is_required;
      key.outside_identity = row.traits.outside_identity;
      if (!key.is_required) key.otherwise = default_text(row.kind, Settings{}.*row.member);
    }
  });
  return keys;
}

}  // namespace gradway::config
