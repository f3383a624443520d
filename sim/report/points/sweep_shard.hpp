// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/study/compare/sweep.hpp"

namespace gradway::report {

/// A finished point of a shard.
struct ShardPoint {
  std::string key{};    ///< key of its report in the cache; empty if it failed
  std::string error{};  ///< why it failed
  int status = 0;       ///< the exit status of such a failure
};

/// The manifest of a finished shard, with which its reports are merged with those of the other shards.
struct SweepShard {
  Shard shard;
  std::string build;     ///< digest of the program
  std::string asked;     ///< digest of all other inputs that determine the results
  std::string scenario;  ///< its name
  std::vector<Axis> axes;
  std::vector<ShardPoint> points;  ///< in the order of `points_of`
};

void write_json(std::ostream& out, const SweepShard& shard, std::string_view version);

/// Reads what `write_json` wrote. @return empty if the text is anything else
std::optional<SweepShard> read_shard(std::string_view text);

}  // namespace gradway::report
