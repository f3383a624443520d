// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/shell/command_context.hpp"
#include "cli/shell/failure.hpp"
#include "sim/report/points/sweep.hpp"

namespace CLI {
class App;
}

namespace gradway::cli {

/// The text of a JSON object, with a digest of itself and of `key` added as its first member. The digest
/// reveals files that were truncated, edited or renamed.
std::string with_digest(const std::string& key, std::string_view object);
/// The object without its digest. None if the digest is missing or wrong.
std::optional<std::string> checked_content(const std::string& key, const std::string& text);

/// Reports of finished points in a folder. The name of each file is a digest of everything that its report
/// depends on, so that a sweep that was stopped, or that shares points with another, does not simulate them
/// again. Thread-safe.
class PointCache {
 public:
  explicit PointCache(std::filesystem::path folder);

  /// @param key in hexadecimal digits @return none if there is no report, or if its digest is wrong
  std::optional<report::SweepPoint> find(const std::string& key);

  /// @throws ConfigError if the file cannot be written
  void store(const std::string& key, const std::string& report) const;

  const std::filesystem::path& folder() const { return folder_; }
  std::size_t found() const { return found_; }
  /// Number of files with a wrong digest.
  std::size_t damaged() const { return damaged_; }

 private:
  std::filesystem::path folder_;
  std::atomic<std::size_t> found_ = 0;
  std::atomic<std::size_t> damaged_ = 0;
};

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
