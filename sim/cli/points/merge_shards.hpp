// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/cli/shell/command_context.hpp"
#include "sim/cli/shell/failure.hpp"
#include "sim/report/points/sweep.hpp"
#include "sim/report/points/sweep_shard.hpp"

namespace CLI {
class App;
}

namespace gradway::cli {

/// "shard-3-of-8": the folder of a shard below `--out`. Its finished points are in "points"; "shard.json" is
/// written when all are finished.
std::string folder_of(const Shard& shard);

/// Writes "shard.json" and prints its name to messages. @param remark text to print after the name
void write_shard(const std::filesystem::path& folder, const report::SweepShard& shard,
                 const CommandContext& context, const std::string& remark);

/// @throws ConfigError if options other than --merge, --out, --json and --csv are given
void check_merge_options(const CLI::App& app);

/// A sweep that was merged from its shards.
struct MergedSweep {
  report::Sweep sweep;
  std::vector<Failure> failures;  ///< one per point
  std::size_t shards = 0;
};

/// Reads all shards of a sweep and restores the order of their points.
/// @param folders of `--out`, or of single shards
/// @throws ConfigError with the shards that are missing, unfinished or damaged, that belong to another sweep
/// than the first, or that another build of the program wrote
MergedSweep merge_shards(const std::vector<std::filesystem::path>& folders);

}  // namespace gradway::cli
