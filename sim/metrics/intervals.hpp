// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/units.hpp"

namespace gradway {

/// An interval of time with one kind of work.
struct Interval {
  Seconds start{};
  Seconds end{};
  int kind = 0;  ///< 0 has precedence
};

/// Splits [from, to] by the kind that has precedence at each moment.
/// @param kinds number of kinds
/// @return seconds by kind, and last those without work; they add up to `to - from`
std::vector<Seconds> split_time(const std::vector<Interval>& intervals, int kinds, Seconds from, Seconds to);

/// Time in [from, to] that the intervals cover.
Seconds covered(const std::vector<Interval>& intervals, Seconds from, Seconds to);

}  // namespace gradway
