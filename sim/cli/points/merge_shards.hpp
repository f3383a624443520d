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

/// "shard-3-of-8": where a shard is kept below `--out`. What was finished of it lies in "points" there, and
/// once all of it is, "shard.json" says so.
std::string folder_of(const Shard& shard);

/// Writes "shard.json" and names it on messages. @param remark what else to say, behind the name
void put_shard(const std::filesystem::path& folder, const report::SweepShard& shard,
               const CommandContext& context, const std::string& remark);

/// @throws ConfigError if options were given that only a sweep which is simulated can heed
void check_alone(const CLI::App& app);

/// A sweep put together of its shards.
struct MergedSweep {
  report::Sweep sweep;
  std::vector<Failure> failures;  ///< beside its points
  std::size_t shards = 0;
};

/// Reads all shards of a sweep and puts their points in their order.
/// @param folders of `--out`, or those of single shards
/// @throws ConfigError that names shards that are missing, not finished or damaged, those that are of another
/// sweep than the first, and those of another build of the program
MergedSweep merge_shards(const std::vector<std::filesystem::path>& folders);

}  // namespace gradway::cli
