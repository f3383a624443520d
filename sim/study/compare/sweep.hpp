// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
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

/// One of several parts of a sweep that are simulated separately, such as the third of eight.
struct Shard {
  std::size_t number = 1;  ///< counts from 1
  std::size_t of = 1;

  bool operator==(const Shard&) const = default;
};

/// Parses "3/8". @throws ConfigError for any other text, and if the number is not between 1 and the count
Shard parse_shard(const std::string& text);

/// "shard 3 of 8"
std::string in_words(const Shard& shard);

/// The points of a sweep that a shard simulates, in rising order. Each point is in exactly one shard, and the
/// sizes of shards differ by at most one. The distribution is pseudo-random but reproducible, so that no
/// shard gets all points of one value, which may be the slow ones.
std::vector<std::size_t> points_of(const Shard& shard, std::size_t point_count);

}  // namespace gradway
