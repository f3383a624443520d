// SPDX-License-Identifier: Apache-2.0
#include "sim/cost/kernel_times.hpp"

#include <algorithm>

namespace gradway {

std::optional<std::size_t> size_of_kind(std::string_view name) {
  const auto kind = std::ranges::find(timed_kinds, name, &TimedKind::name);
  if (kind == timed_kinds.end()) return std::nullopt;
  return static_cast<std::size_t>(
      std::ranges::count_if(kind->size, [](std::string_view word) { return !word.empty(); }));
}

}  // namespace gradway
