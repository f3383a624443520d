// SPDX-License-Identifier: Apache-2.0
#include "sim/trust/warning.hpp"

#include <algorithm>
#include <utility>

namespace gradway {

void add(std::vector<Warning>& warnings, Warning warning) {
  if (std::ranges::find(warnings, warning) == warnings.end()) warnings.push_back(std::move(warning));
}

}  // namespace gradway
