// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace gradway::report {

/// A value in its base unit, or null if there is none.
template <class Value>
nlohmann::ordered_json or_null(const std::optional<Value>& value) {
  if (!value) return nullptr;
  if constexpr (requires { value->value(); }) {
    return value->value();
  } else {
    return *value;
  }
}

/// Keys and values, as `--set` takes them.
inline nlohmann::ordered_json settings_json(
    const std::vector<std::pair<std::string, std::string>>& settings) {
  auto json = nlohmann::ordered_json::object();
  for (const auto& [key, value] : settings) json[key] = value;
  return json;
}

/// Writes whole amounts, such as bytes, as integers: without ".0".
inline nlohmann::ordered_json amount(double value) {
  constexpr double exact = 9007199254740992.0;  // 2^53: larger doubles do not represent every integer
  if (value == std::floor(value) && std::abs(value) < exact) return static_cast<std::int64_t>(value);
  return value;
}

}  // namespace gradway::report
