// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/study/search/optimize.hpp"
#include "sim/study/search/setting_simulator.hpp"

namespace gradway {

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
