// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/units.hpp"

namespace gradway {

/// A stretch of time and what kind of work fills it.
struct Interval {
  Seconds start{};
  Seconds end{};
  int kind = 0;  ///< 0 is the most important
};

/// Splits [from, to] by the most important kind under way at each moment.
/// @param kinds number of kinds; the result has one more entry, for the time in which nothing is under way
/// @return seconds by kind; they add up to `to - from`
std::vector<Seconds> split_time(const std::vector<Interval>& intervals, int kinds, Seconds from, Seconds to);

/// Time in [from, to] in which at least one interval is under way.
Seconds covered(const std::vector<Interval>& intervals, Seconds from, Seconds to);

}  // namespace gradway
