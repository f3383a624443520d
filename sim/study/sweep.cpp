// SPDX-License-Identifier: Apache-2.0
#include "sim/study/sweep.hpp"

#include <limits>

#include "sim/base/contract.hpp"

namespace gradway {

std::size_t point_count(const std::vector<Axis>& axes) {
  std::size_t count = 1;
  for (const auto& axis : axes) {
    if (__builtin_mul_overflow(count, axis.values.size(), &count))
      return std::numeric_limits<std::size_t>::max();
  }
  return count;
}

std::vector<std::string> point_values(const std::vector<Axis>& axes, std::size_t index) {
  expects(index < point_count(axes), "the point is one of the sweep");
  std::vector<std::string> values(axes.size());
  for (auto i = axes.size(); i-- > 0;) {
    values[i] = axes[i].values[index % axes[i].values.size()];
    index /= axes[i].values.size();
  }
  return values;
}

}  // namespace gradway
