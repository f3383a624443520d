// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/study/compare/shard.hpp"
#include "sim/study/compare/sweep.hpp"

namespace gradway::report {

/// What became of a point of a shard.
struct ShardPoint {
  std::string key{};    ///< that its report is kept under; empty if there is none
  std::string error{};  ///< why there is none
  int status = 0;       ///< the exit status that this stands for
};

/// What a finished shard leaves behind beside its reports, for those that merge it with the others.
struct SweepShard {
  Shard shard;
  std::string build;     ///< digest of the program
  std::string asked;     ///< digest of all else that decides what the sweep gives
  std::string scenario;  ///< its name
  std::vector<Axis> axes;
  std::vector<ShardPoint> points;  ///< in the order of `points_of`
};

void write_json(std::ostream& out, const SweepShard& shard, std::string_view version);

/// Reads what `write_json` wrote; nothing if the text is anything else.
std::optional<SweepShard> read_shard(std::string_view text);

}  // namespace gradway::report
