// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gradway {

/// A key of the scenario and the values that it takes in turn, as YAML text.
struct Axis {
  std::string key;
  std::vector<std::string> values;
};

/// Number of points of the cross product; 1 without axes. The largest number if it overflows.
std::size_t point_count(const std::vector<Axis>& axes);

/// The values of a point, one per axis. The first axis varies slowest. @pre index < point_count(axes)
std::vector<std::string> point_values(const std::vector<Axis>& axes, std::size_t index);

/// Splits text at commas outside of brackets, braces and quotes.
std::vector<std::string> split_values(std::string_view text);

/// Splits like `split_values`, and expands a range such as "1..8" to its whole numbers.
/// @param option the option and the key, for messages: "--vary job.gpus"
/// @throws ConfigError for a range that ends before it begins, or has more than 1,000,000 numbers
std::vector<std::string> values_of_list(std::string_view option, std::string_view text);

/// Parses "key=v1,v2,..." of each `--vary`, or of another option. A comma inside brackets, braces or quotes
/// belongs to the value; "1..8" are eight values.
/// @throws ConfigError with all problems: texts without a key or values, empty or repeated values, a key that
/// is given twice, and more than 1,000,000 points
std::vector<Axis> parse_axes(const std::vector<std::string>& texts, std::string_view option = "--vary");

/// @throws ConfigError if the cross product has more than 1,000,000 points
void check_size(const std::vector<Axis>& axes);

}  // namespace gradway
