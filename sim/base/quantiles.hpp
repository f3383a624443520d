// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "sim/base/contract.hpp"

namespace gradway {

/// The value at an index of the sorted values (order statistic).
template <class Value>
Value at_place(std::vector<Value> values, std::size_t place) {
  const auto element = values.begin() + static_cast<std::ptrdiff_t>(place);
  std::ranges::nth_element(values, element);
  return *element;
}

/// The smallest value that at least this share of the values does not exceed. Always one of the values.
/// @pre at least one value, 0 < share <= 1
template <class Value>
Value lower_quantile(const std::vector<Value>& values, double share) {
  expects(!values.empty() && share > 0 && share <= 1, "a quantile needs values and a share from 0 to 1");
  constexpr double rounding = 1e-9;  // so that 0.25 of 4 values is the first one
  const auto rank = std::ceil(share * static_cast<double>(values.size()) - rounding);
  return at_place(values, static_cast<std::size_t>(std::max(1.0, rank)) - 1);
}

/// The quantile with linear interpolation between adjacent values.
/// @pre at least one value, 0 <= share <= 1
template <class Value>
Value quantile(std::vector<Value> values, double share) {
  expects(!values.empty() && share >= 0 && share <= 1, "a quantile needs values and a share from 0 to 1");
  std::ranges::sort(values);
  const auto place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

/// The lower of the two middle values; zero without values. Used for durations, since disturbances of a
/// measurement only ever lengthen it.
template <class Value>
Value lower_median(const std::vector<Value>& values) {
  return values.empty() ? Value{} : at_place(values, (values.size() - 1) / 2);
}

/// The upper of the two middle values; zero without values. Used for errors: at least half of them are within
/// it.
template <class Value>
Value upper_median(const std::vector<Value>& values) {
  return values.empty() ? Value{} : at_place(values, values.size() / 2);
}

/// The mean of the two middle values; zero without values.
inline double median(const std::vector<double>& values) {
  return std::midpoint(lower_median(values), upper_median(values));
}

}  // namespace gradway
