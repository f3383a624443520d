// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
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

/// Text cut at commas that stand outside of brackets, braces and quotes.
std::vector<std::string> split_values(std::string_view text);

/// The same, and a range such as "1..8" as the whole numbers in it.
/// @param what the option and the key, for messages: "--vary job.gpus"
/// @throws ConfigError for a range that ends before it begins, or has more numbers than anyone can want
std::vector<std::string> values_of_list(std::string_view what, std::string_view text);

/// "key=v1,v2,..." of each `--vary`, or of another option. A comma inside brackets, braces or quotes belongs
/// to the value; "1..8" are eight values.
/// @throws ConfigError for texts without a key or values, empty or repeated values, a key given twice, and
/// more points
///         than anyone can want; all problems at once.
std::vector<Axis> parse_axes(const std::vector<std::string>& texts, std::string_view option = "--vary");

/// @throws ConfigError if the cross product has more points than anyone can want
void check_size(const std::vector<Axis>& axes);

}  // namespace gradway
