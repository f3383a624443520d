// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace gradway {

/// A key of the scenario and the values it takes in turn, as YAML text.
struct Axis {
  std::string key;
  std::vector<std::string> values;
};

/// Points of the cross product; the first axis varies slowest. @return 0 axes: one point; the largest number
/// for more than it can say
std::size_t point_count(const std::vector<Axis>& axes);

/// The values of a point, one an axis. @pre index < point_count(axes)
std::vector<std::string> point_values(const std::vector<Axis>& axes, std::size_t index);

}  // namespace gradway
