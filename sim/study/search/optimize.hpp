// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/run/simulate.hpp"
#include "sim/study/compare/leaders.hpp"
#include "sim/study/search/search_space.hpp"

namespace gradway {

/// A setting and what came of it.
struct SettingResult {
  std::size_t job = 0;  ///< of the search space
  Strategy strategy;
  Metrics metrics;
  TimeRange range;                    ///< of the step's time
  std::vector<PossibleError> errors;  ///< that it may have
  Bytes memory{};                     ///< that the GPU must hold
  std::vector<std::string> basis;     ///< what the prediction rests on
  std::vector<std::string> warnings;  ///< what to know before trusting it
  std::string failure_reason;  ///< why, "does not fit: 93 of 24 GB on each l4"; empty: it can. Then only figures
                           ///< of steps that were simulated count
  bool surely_fits = false;  ///< with the upper end of the interval of its memory
};

/// Time that a sample takes: steps of different batches compare by it.
Seconds time_per_sample(const Job& job, const SettingResult& tried);
Choice choice_of(const Job& job, const SettingResult& tried);

/// A setting of the best turned back to what the framework (or, beside the strategy, the scenario) has.
struct RevertedSetting {
  std::string key;  ///< "bucket_cap", "wrap", "input.loader_workers"; "" for the job
  SettingResult without;
};

/// A point of the curve over bucket caps, all else as in the best.
struct CapPoint {
  int mib = 0;
  SettingResult tried;
};

/// What is recommended where a setting of a strategy that shards, or a key of the job, has a value.
struct BestOfValue {
  std::string setting;         ///< "wrap", "input.loader_workers"
  std::string value;           ///< "4 blocks"; "": the framework's own
  std::optional<SettingResult> tried;  ///< empty: none that was tried can run, or keeps the limits
};

struct Optimum {
  SettingResult best;      ///< that one should take: of those that are tied with the fastest, what changes least
  SettingResult fastest;   ///< by the predicted figures alone
  SettingResult defaults;  ///< the framework's, in the job as written
  SettingResult as_written;
  std::vector<SettingResult> best_of_hooks;  ///< of DDP: one a hook (and rank) that has settings that fit
  /// Of strategies that shard, and of keys of the job, for every value that was searched.
  std::vector<BestOfValue> best_of_values;
  std::vector<RevertedSetting> reverted;  ///< each searched setting of the best that is none of the defaults
  std::vector<CapPoint> curve;          ///< evenly spaced by the logarithm; empty if caps were not searched
  std::optional<CapRange> flat;         ///< caps around the best's, all else as in it, within `flatness`
  bool is_flat_to_end = false;         ///< ... and all larger ones
};

/// A cap is as good as the best if it takes at most this much longer.
inline constexpr double flatness = 0.01;

/// Calls its second argument for each index below the first, several at once if it likes; returns when all
/// have returned. The work throws nothing.
using ForEach = std::function<void(std::size_t, const std::function<void(std::size_t)>&)>;

/// Settings of one family differ in little but time: DDP's in their buckets, those of a strategy that shards
/// in their prefetches. Families of different jobs are different ones.
Strategy family_of(Strategy strategy);

/// What a search found.
struct SearchResult {
  std::optional<Optimum> optimum;  ///< none if no setting can run
  std::vector<SettingResult> left_out;     ///< settings that cannot run: one of each family that needs least
  /// The fastest of each family of which none keeps the limits of the training
  std::vector<SettingResult> missed;
  bool none_meets = false;  ///< no setting at all keeps them: then all are ranked, and `missed` is empty
  double settings = 0;      ///< of the search space
  std::size_t simulated = 0;
};

/// Finds the settings with the least time a sample. DDP: caps that cut the same buckets are simulated once.
/// Cuts are tried at caps spaced by the logarithm, then all cuts beside those within 2 % of the best with
/// their hook. Strategies that shard: all combinations but for prefetches, then these with all within 5 % of
/// the best; activation checkpointing is tried with what does not fit without. Of settings that are tied
/// with the fastest, and that none beats for sure, the one with the fewest departures from the framework's
/// defaults wins, then a hook that loses nothing; of these the fastest, and within 0.01 % of it less memory,
/// the rounder cap. Nothing stays in the best that can be turned back without a sure loss. Settings that miss
/// the limits of the training are not ranked unless all do. Left out is what the GPU cannot hold, or what
/// NCCL cannot do in another job than the one as written.
/// @param engine a name from engines()
/// @throws SimulationError if a simulation could not finish, ConfigError if the job as written cannot run
SearchResult optimize(const SearchSpace& space, const std::string& engine, const ForEach& for_each);

}  // namespace gradway
