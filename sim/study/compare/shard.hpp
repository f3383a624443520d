// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gradway {

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
