// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

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

}  // namespace gradway::report
