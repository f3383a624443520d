// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/study/search/optimize.hpp"
#include "sim/study/search/setting_simulator.hpp"

namespace gradway {

/// What searches of all strategies share: whom they rank, and whom they recommend.
class Search {
 public:
  Search(const SearchSpace& space, const std::string& engine, const ForEach& for_each)
      : space_{space}, tried_{space.jobs, engine, for_each} {}
  virtual ~Search() = default;

  SearchResult run();

 protected:
  Search(const Search&) = default;
  Search& operator=(const Search&) = delete;

  /// Differences of this share are none.
  static constexpr double negligible_difference = 1e-4;

  /// Simulates what is worth it.
  virtual void try_settings() = 0;
  /// All that `try_settings` may have tried, family by family.
  virtual std::vector<Setting> settings() const = 0;
  virtual Strategy defaults() const = 0;
  virtual bool has(const Strategy& strategy) const = 0;
  virtual int departures(const Strategy& strategy) const = 0;
  /// The strategy with each of its searched settings that are none of the defaults at the default.
  virtual std::vector<std::pair<std::string, Strategy>> without_each(const Strategy& strategy) const = 0;
  /// What else there is to tell. @param ranked all settings that are
  virtual void add_details(Optimum& found, const std::vector<SettingResult>& ranked) = 0;
  virtual double count_settings() const = 0;

  const SearchSpace& space() const { return space_; }
  SettingSimulator& tried() { return tried_; }
  double cost(const SettingResult& tried) const { return time_per_sample(space_.jobs[tried.job].job, tried).value(); }
  /// What has been tried and fits.
  std::vector<SettingResult> candidates();
  /// Of settings that cannot be told from the fastest the one that changes least.
  const SettingResult& recommended(const std::vector<const SettingResult*>& all) const;

 private:
  std::pair<int, bool> changes(const SettingResult& tried) const;
  const std::vector<Override>& changes_of(std::size_t job) const;
  bool has_value(std::size_t job, const JobSetting& setting, const std::string& value) const;
  std::optional<std::size_t> job_without(std::size_t job, const std::string& key) const;
  void add_best_of_job_settings(Optimum& found, const std::vector<SettingResult>& ranked) const;
  Choice choice(const SettingResult& tried) const { return choice_of(space_.jobs[tried.job].job, tried); }
  const SettingResult& fastest_of(const std::vector<const SettingResult*>& all) const;
  bool is_as_good(const SettingResult& fastest, const SettingResult& one) const;
  const SettingResult& simplest_of_best(const std::vector<const SettingResult*>& all) const;
  bool meets_limits(const SettingResult& tried) const { return meets(space_.goal, tried.metrics, tried.range); }
  std::vector<SettingResult> families_missing_limits(const std::vector<SettingResult>& fitting) const;
  std::optional<Optimum> optimum(const std::vector<SettingResult>& ranked);
  SettingResult revert_unneeded(SettingResult best, const SettingResult& fastest);
  std::vector<RevertedSetting> reverted(const SettingResult& best);

  const SearchSpace& space_;
  SettingSimulator tried_;
  bool enforces_limits_ = true;  ///< settings that miss those of the training are not ranked
};

}  // namespace gradway
