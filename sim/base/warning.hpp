// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gradway {

/// A fact that users should know before they rely on a prediction: a row of warning_table.hpp with its
/// values. It is made by `make_warning`.
struct Warning {
  std::string_view code;  ///< "memory-tight"
  std::string sentence;   ///< without a full stop

  bool operator==(const Warning&) const = default;
};

/// Adds a warning unless the list has it.
inline void add(std::vector<Warning>& warnings, Warning warning) {
  if (std::ranges::find(warnings, warning) == warnings.end()) warnings.push_back(std::move(warning));
}

}  // namespace gradway
