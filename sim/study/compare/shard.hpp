// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gradway {

/// A part of a sweep that is simulated by itself: the third of eight.
struct Shard {
  std::size_t number = 1;  ///< counts from 1
  std::size_t of = 1;

  bool operator==(const Shard&) const = default;
};

/// "3/8". @throws ConfigError for anything else, and for a shard that is not one of so many
Shard parse_shard(const std::string& text);

/// "shard 3 of 8"
std::string in_words(const Shard& shard);

/// Which of a sweep's points a shard simulates, in rising order. Each point is in one shard; shards differ by
/// one point at most. Points are dealt out as by chance, though always the same: no shard gets all points of
/// one value, which may be the slow ones.
std::vector<std::size_t> points_of(const Shard& shard, std::size_t point_count);

}  // namespace gradway
