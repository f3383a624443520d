// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/study/search/optimize.hpp"
#include "sim/study/search/tried_settings.hpp"

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
  static constexpr double equals = 1e-4;

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
  virtual void add_details(Optimum& found, const std::vector<Tried>& ranked) = 0;
  virtual double count_settings() const = 0;

  const SearchSpace& space() const { return space_; }
  TriedSettings& tried() { return tried_; }
  double cost(const Tried& tried) const { return time_per_sample(space_.jobs[tried.job].job, tried).value(); }
  /// What has been tried and fits.
  std::vector<Tried> candidates();
  /// Of settings that cannot be told from the fastest the one that changes least.
  const Tried& recommended(const std::vector<const Tried*>& all) const;

 private:
  std::pair<int, bool> changes(const Tried& tried) const;
  const std::vector<Override>& changes_of(std::size_t job) const;
  bool has_value(std::size_t job, const JobSetting& setting, const std::string& value) const;
  std::optional<std::size_t> job_without(std::size_t job, const std::string& key) const;
  void add_best_of_job_settings(Optimum& found, const std::vector<Tried>& ranked) const;
  Choice choice(const Tried& tried) const { return choice_of(space_.jobs[tried.job].job, tried); }
  const Tried& fastest_of(const std::vector<const Tried*>& all) const;
  bool as_good_as(const Tried& fastest, const Tried& one) const;
  const Tried& simplest_of_best(const std::vector<const Tried*>& all) const;
  bool meets_limits(const Tried& tried) const { return meets(space_.goal, tried.metrics, tried.range); }
  std::vector<Tried> families_that_miss(const std::vector<Tried>& fitting) const;
  std::optional<Optimum> optimum(const std::vector<Tried>& ranked);
  Tried without_idle_settings(Tried best, const Tried& fastest);
  std::vector<TurnedBack> turned_back(const Tried& best);

  const SearchSpace& space_;
  TriedSettings tried_;
  bool limits_count_ = true;  ///< settings that miss those of the training are not ranked
};

}  // namespace gradway
