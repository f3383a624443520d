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
  /// @param jobs must outlive this object; all have the same model
  SettingSimulator(const std::vector<Scenario>& jobs, std::string engine, ForEach for_each)
      : jobs_{jobs}, engine_{std::move(engine)}, for_each_{std::move(for_each)} {}

  /// Simulates the settings that are not cached. @throws the error of the first that failed
  void try_all(const std::vector<Setting>& settings);

  /// The result of a setting, which is simulated if it is not cached.
  SettingResult get(const Setting& setting);

  /// Whether the result is cached.
  bool has(const Setting& setting) { return tried_.contains(key_of(setting)); }

  std::size_t simulated() const { return tried_.size(); }

  /// Settings that cannot run: the one of each family that needs the least memory, and each reason why NCCL
  /// refuses a job once.
  std::vector<SettingResult> left_out() const;

 private:
  /// Everything that a step depends on: the job, the strategy in its canonical form, and the ends of DDP's
  /// buckets instead of the cap. The effect of a static graph is not modelled.
  using Key = std::tuple<std::size_t, Strategy, std::vector<int>>;
  Key key_of(const Setting& setting);
  SettingResult simulate_one(const Setting& setting) const;

  const std::vector<Scenario>& jobs_;
  std::string engine_;
  ForEach for_each_;
  std::map<BucketCap, std::vector<int>> bucket_ends_;  ///< by cap
  std::map<Key, SettingResult> tried_;
};

/// The part of a search that is the same for all strategies: ranking and recommendation.
class Search {
 public:
  /// @param defaults the strategy with the framework's defaults
  Search(const SearchSpace& space, const Strategy& defaults, const std::string& engine,
         const ForEach& for_each)
      : space_{space},
        all_{strategy_settings(space.jobs.front())},
        defaults_{defaults},
        tried_{space.jobs, engine, for_each} {}
  virtual ~Search() = default;

  SearchResult run();

 protected:
  Search(const Search&) = default;
  Search& operator=(const Search&) = delete;

  /// Relative differences up to this are ignored.
  static constexpr double negligible_difference = 1e-4;

  /// Simulates the settings that may be the best.
  virtual void try_settings() = 0;
  /// All settings that `try_settings` may have simulated, by family.
  virtual std::vector<Setting> settings() const = 0;
  /// Adds the results that only this strategy has. @param ranked all settings that are ranked
  virtual void add_details(Optimum& optimum, const std::vector<SettingResult>& ranked) = 0;
  virtual double count_settings() const = 0;

  const SearchSpace& space() const { return space_; }
  SettingSimulator& tried() { return tried_; }
  double cost(const SettingResult& tried) const {
    return time_per_sample(space_.jobs[tried.job].job, tried).value();
  }
  /// All simulated settings that can run.
  std::vector<SettingResult> candidates();
  /// Of the settings that are tied with the fastest, the one with the fewest changes.
  const SettingResult& recommended(const std::vector<const SettingResult*>& results) const;

 private:
  /// Number of settings that differ from the framework's defaults.
  int departures(const Strategy& strategy) const;
  /// For each searched setting that is not at its default: its key, and the strategy with it reverted.
  std::vector<std::pair<std::string, Strategy>> without_each(const Strategy& strategy) const;
  std::pair<int, bool> changes(const SettingResult& tried) const;
  const std::vector<Override>& changes_of(std::size_t job) const;
  bool has_value(std::size_t job, const Axis& setting, const std::string& value) const;
  std::optional<std::size_t> job_without(std::size_t job, const std::string& key) const;
  void add_best_of_job_settings(Optimum& optimum, const std::vector<SettingResult>& ranked) const;
  Choice choice(const SettingResult& tried) const { return choice_of(space_.jobs[tried.job].job, tried); }
  const SettingResult& fastest_of(const std::vector<const SettingResult*>& results) const;
  bool is_as_good(const SettingResult& fastest, const SettingResult& tried) const;
  const SettingResult& simplest_of_best(const std::vector<const SettingResult*>& results) const;
  bool meets_limits(const SettingResult& tried) const {
    return meets(space_.goal, tried.metrics, tried.range);
  }
  std::vector<SettingResult> families_missing_limits(const std::vector<SettingResult>& fitting) const;
  std::optional<Optimum> optimum(const std::vector<SettingResult>& ranked);
  SettingResult revert_unneeded(SettingResult best, const SettingResult& fastest);
  std::vector<RevertedSetting> reverted(const SettingResult& best);

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
