// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/study/ask/ask.hpp"
#include "sim/study/parallel.hpp"
#include "sim/study/search/search_space.hpp"

namespace gradway {

/// The best with one setting reverted to the framework's default or, for keys of the job, to the value of the
/// scenario.
struct RevertedSetting {
  std::string key;  ///< "bucket_cap", "wrap", "input.loader_workers"; empty: the whole job
  Answer without;
};

/// A point of the curve over bucket caps, with all other settings of the best.
struct CapPoint {
  int mib = 0;
  Answer tried;
};

/// The recommended setting among those with one value of a searched key.
struct BestOfValue {
  std::string setting;          ///< "wrap", "input.loader_workers"
  std::string value;            ///< "4 blocks"; empty: the framework's default
  std::optional<Answer> tried;  ///< none if no such setting can run and keeps the limits
};

struct Optimum {
  Answer best;      ///< recommended: of all that are tied with the fastest, the fewest changes
  Answer fastest;   ///< by expected figures alone
  Answer defaults;  ///< the framework's defaults in the job as written
  Answer as_written;
  std::vector<Answer> best_of_hooks;  ///< DDP: one per hook and rank with settings that fit
  /// For sharded strategies and keys of the job: one per searched value.
  std::vector<BestOfValue> best_of_values;
  std::vector<RevertedSetting> reverted;  ///< one per searched setting of the best that is not at its default
  std::vector<CapPoint> curve;            ///< logarithmically spaced; empty if caps were not searched
  std::optional<CapRange> flat;           ///< caps around that of the best within `flatness` of it
  bool is_flat_to_end = false;            ///< `flat` includes all larger caps

  /// Relative gain in throughput of the best over another setting: 0.2 is 20 % more.
  double gain_over(const Answer& setting) const;
  /// Whether another setting is tied with the best, as are all settings between them.
  bool is_tied_with_best(const Answer& setting) const;
  /// Probability that the best is faster than the other.
  double best_is_faster(const Answer& setting) const;

 private:
  /// The settings above that can run.
  std::vector<const Answer*> named() const;
};

/// A cap is as good as the best if it takes at most this fraction longer.
inline constexpr double flatness = 0.01;

/// A representative of the strategies that differ only in DDP's buckets, or in the prefetches of a sharded
/// strategy. Such a family differs in little but time.
Strategy family_of(Strategy strategy);

struct SearchResult {
  std::optional<Optimum> optimum;  ///< none if no setting can run
  std::vector<Answer> left_out;    ///< settings that cannot run: of each family the smallest
  /// The fastest of each family without a setting that keeps the limits of the training.
  std::vector<Answer> missed;
  bool none_meets = false;  ///< no setting keeps the limits: all are ranked, and `missed` is empty
  double settings = 0;      ///< size of the search space
  std::size_t simulated = 0;
};

/// Finds the settings with the least time per sample.
///
/// DDP: caps with the same buckets are simulated once. First caps are spaced logarithmically, then all caps
/// between those within 2 % of the best with their hook. Sharded strategies: all combinations without
/// prefetches, then prefetches with all within 5 % of the best. Activation checkpointing is tried with what
/// does not fit otherwise.
///
/// Of the settings that are tied with the fastest, and that none certainly beats, the one with the fewest
/// changes to the framework's defaults is recommended, preferably with a lossless hook. Of these the fastest
/// wins, and within 0.01 % of it the one with less memory and the rounder cap. The recommendation has no
/// setting that can be reverted without a certain loss. Settings that miss the limits of the training are
/// ranked only if all do. Settings that do not fit, or that NCCL cannot run in a changed job, are left out.
/// @param engine a name from engines()
/// @throws SimulationError if a simulation could not finish, ConfigError if the job as written cannot run
SearchResult optimize(const SearchSpace& space, const std::string& engine, const ForEach& for_each);

}  // namespace gradway
