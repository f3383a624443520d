// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "sim/base/contract.hpp"

namespace gradway {

/// The value at a place of the sorted values.
template <class Value>
Value at_place(std::vector<Value> values, std::size_t place) {
  const auto found = values.begin() + static_cast<std::ptrdiff_t>(place);
  std::ranges::nth_element(values, found);
  return *found;
}

/// The least of the values that a share of them does not exceed: always one of them.
/// @pre some values, 0 < share <= 1
template <class Value>
Value lower_quantile(const std::vector<Value>& values, double share) {
  expects(!values.empty() && share > 0 && share <= 1, "a quantile of some values");
  constexpr double rounding = 1e-9;  // a quarter of 4 is the first, not the second
  const auto rank = std::ceil(share * static_cast<double>(values.size()) - rounding);
  return at_place(values, static_cast<std::size_t>(std::max(1.0, rank)) - 1);
}

/// The value below which a share of the values lies, linear between neighbours.
/// @pre some values, 0 <= share <= 1
template <class Value>
Value quantile(std::vector<Value> values, double share) {
  expects(!values.empty() && share >= 0 && share <= 1, "a quantile is of at least one sample");
  std::ranges::sort(values);
  const auto place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

/// The lower of the two values in the middle; zero of none. What disturbs a measurement only ever adds to it.
template <class Value>
Value lower_median(const std::vector<Value>& values) {
  return values.empty() ? Value{} : at_place(values, (values.size() - 1) / 2);
}

/// The upper one; zero of none. For errors: those within it are half at least.
template <class Value>
Value upper_median(const std::vector<Value>& values) {
  return values.empty() ? Value{} : at_place(values, values.size() / 2);
}

/// The mean of the two; zero of none.
inline double median(const std::vector<double>& values) {
  return std::midpoint(lower_median(values), upper_median(values));
}

}  // namespace gradway
