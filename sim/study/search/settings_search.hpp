// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/study/search/optimize.hpp"

namespace gradway {

/// A point of the search space.
struct Setting {
  std::size_t job = 0;  ///< index in SearchSpace::jobs
  Strategy strategy;
};

/// Simulates settings and caches the results. Settings with the same step share a simulation.
class SettingSimulator {
 public:
  /// @param space must outlive this object; all its jobs have the same model
  SettingSimulator(const SearchSpace& space, std::string engine, ForEach for_each)
      : space_{space}, engine_{std::move(engine)}, for_each_{std::move(for_each)} {}

  /// Simulates the settings that are not cached. @throws the error of the first that failed
  void try_all(const std::vector<Setting>& settings);

  /// The result of a setting, which is simulated if it is not cached.
  Answer get(const Setting& setting);

  /// Whether the result is cached.
  bool has(const Setting& setting) { return tried_.contains(key_of(setting)); }

  std::size_t simulated() const { return tried_.size(); }

  /// Settings that cannot run: the one of each family that needs the least memory, and each reason why NCCL
  /// refuses a job once.
  std::vector<Answer> left_out() const;

 private:
  /// Everything that a step depends on: the job, the strategy in its canonical form, and the ends of DDP's
  /// buckets instead of the cap. The effect of a static graph is not modelled.
  using Key = std::tuple<std::size_t, Strategy, std::vector<int>>;
  Key key_of(const Setting& setting);

  const SearchSpace& space_;
  std::string engine_;
  ForEach for_each_;
  std::map<BucketCap, std::vector<int>> bucket_ends_;  ///< by cap
  std::map<Key, Answer> tried_;
};

/// The part of a search of settings that is the same for all strategies: ranking and recommendation.
class SettingsSearch {
 public:
  /// @param defaults the strategy with the framework's defaults
  SettingsSearch(const SearchSpace& space, const Strategy& defaults, const std::string& engine,
         const ForEach& for_each)
      : space_{space},
        all_{strategy_settings(space.jobs.front())},
        defaults_{defaults},
        tried_{space, engine, for_each} {}
  virtual ~SettingsSearch() = default;

  SearchResult run();

 protected:
  SettingsSearch(const SettingsSearch&) = default;
  SettingsSearch& operator=(const SettingsSearch&) = delete;

  /// Relative differences up to this are ignored.
  static constexpr double negligible_difference = 1e-4;

  /// Simulates the settings that may be the best.
  virtual void try_settings() = 0;
  /// All settings that `try_settings` may have simulated, by family.
  virtual std::vector<Setting> settings() const = 0;
  /// Adds the results that only this strategy has. @param ranked all settings that are ranked
  virtual void add_details(Optimum& optimum, const std::vector<Answer>& ranked) = 0;
  virtual double count_settings() const = 0;

  const SearchSpace& space() const { return space_; }
  SettingSimulator& tried() { return tried_; }
  static double cost(const Answer& tried) { return tried.time_per_sample().value(); }
  /// All simulated settings that can run.
  std::vector<Answer> candidates();
  /// Of the settings that are tied with the fastest, the one with the fewest changes.
  const Answer& recommended(const std::vector<const Answer*>& results) const;

 private:
  /// Number of settings that differ from the framework's defaults.
  int departures(const Strategy& strategy) const;
  /// For each searched setting that is not at its default: its key, and the strategy with it reverted.
  std::vector<std::pair<std::string, Strategy>> without_each(const Strategy& strategy) const;
  std::pair<int, bool> changes(const Answer& tried) const;
  bool has_value(const Answer& tried, const Axis& setting, const std::string& value) const;
  std::optional<std::size_t> job_without(const Settings& set, const std::string& key) const;
  void add_best_of_job_settings(Optimum& optimum, const std::vector<Answer>& ranked) const;
  const Answer& fastest_of(const std::vector<const Answer*>& results) const;
  bool is_as_good(const Answer& fastest, const Answer& tried) const;
  const Answer& simplest_of_best(const std::vector<const Answer*>& results) const;
  bool meets_limits(const Answer& tried) const {
    return meets(space_.goal, tried.metrics, tried.range);
  }
  std::vector<Answer> families_missing_limits(const std::vector<Answer>& fitting) const;
  std::optional<Optimum> optimum(const std::vector<Answer>& ranked);
  Answer revert_unneeded(Answer best, const Answer& fastest);
  std::vector<RevertedSetting> reverted(const Answer& best);

  const SearchSpace& space_;
  std::vector<StrategySetting> all_;  ///< including those that are not searched
  Strategy defaults_;
  SettingSimulator tried_;
  bool enforces_limits_ = true;  ///< settings that miss the limits of the training are not ranked
};

/// `optimize` for DDP.
SearchResult search_ddp(const SearchSpace& space, const std::string& engine, const ForEach& for_each);

/// `optimize` for sharded strategies.
SearchResult search_sharded(const SearchSpace& space, const std::string& engine, const ForEach& for_each);

}  // namespace gradway
