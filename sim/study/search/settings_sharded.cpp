// SPDX-License-Identifier: Apache-2.0
// Searches the settings of sharded strategies.
#include <algorithm>

#include "sim/study/search/settings_search.hpp"

namespace gradway {
namespace {

constexpr double worth_prefetching = 0.05;  // relative difference of the cost from the best

/// All combinations of the settings' values, from a start strategy.
std::vector<Strategy> combinations(const std::vector<StrategySetting>& settings, const Strategy& start) {
  std::vector<Strategy> strategies{start};
  for (const auto& setting : settings) {
    std::vector<Strategy> next;
    for (const auto& strategy : strategies) {
      for (const auto& value : setting.values) setting.assign(next.emplace_back(strategy), value.strategy);
    }
    strategies = std::move(next);
  }
  return strategies;
}

class ShardedSearch final : public SettingsSearch {
 public:
  ShardedSearch(const SearchSpace& space, const std::string& engine, const ForEach& for_each)
      : SettingsSearch{space,
               framework_defaults(strategy_settings(space.jobs.front()), space.jobs.front().job.strategy),
               engine, for_each},
        written_{space.jobs.front().job.strategy},
        gpus_{space.jobs.front().job.gpus} {
    for (const auto& setting : space.settings)
      (setting.is_prefetch ? prefetch_settings_ : memory_settings_).push_back(setting);
    families_ = canonical(combinations(memory_settings_, framework_defaults(prefetch_settings_, written_)));
  }

 private:
  /// The canonical forms of the consistent strategies, without duplicates.
  std::vector<Strategy> canonical(std::vector<Strategy> strategies) const {
    std::vector<Strategy> kept;
    for (auto& strategy : strategies) {
      if (!is_consistent(strategy, gpus_)) continue;
      strategy = simplest(strategy, gpus_);
      if (std::ranges::find(kept, strategy) == kept.end()) kept.push_back(strategy);
    }
    return kept;
  }

  std::vector<Strategy> members_of(const Strategy& family) const {
    return canonical(combinations(prefetch_settings_, family));
  }

  /// The jobs that are tried with all families: those without added activation checkpointing.
  std::vector<std::size_t> first_jobs() const {
    std::vector<std::size_t> jobs;
    for (std::size_t job = 0; job < space().jobs.size(); ++job)
      if (std::ranges::find(space().recompute, job, &RecomputeToTry::with) == space().recompute.end())
        jobs.push_back(job);
    return jobs;
  }

  void try_settings() override {
    std::vector<Setting> first;
    for (const auto job : first_jobs())
      for (const auto& family : families_) first.push_back({job, family});
    tried().try_all(first);
    std::vector<Setting> recomputing;
    for (const auto& [without, with] : space().recompute)
      for (const auto& family : families_)
        if (!tried().get({without, family}).can_run()) recomputing.push_back({with, family});
    tried().try_all(recomputing);
    tried().try_all(prefetches_of_good_ones(candidates()));
  }

  /// All prefetches for the settings that are nearly as fast as the best, or else for the best that has any.
  std::vector<Setting> prefetches_of_good_ones(std::vector<Answer> fitting) const {
    std::ranges::stable_sort(fitting, {}, [&](const Answer& tried) { return cost(tried); });
    std::vector<Setting> added;
    for (const auto& tried : fitting) {
      const bool is_good = cost(tried) <= (1 + worth_prefetching) * cost(fitting.front());
      if (!is_good && !added.empty()) break;
      auto members = members_of(tried.job.strategy);
      if (members.size() == 1) continue;
      for (auto& member : members) added.push_back({tried.scenario, member});
    }
    return added;
  }

  std::vector<Setting> settings() const override {
    std::vector<Setting> settings;
    for (std::size_t job = 0; job < space().jobs.size(); ++job)
      for (const auto& family : families_)
        for (auto& member : members_of(family)) settings.push_back({job, member});
    return settings;
  }

  void add_details(Optimum& optimum, const std::vector<Answer>& ranked) override {
    for (const auto& setting : space().settings) {
      if (setting.values.size() < 2) continue;
      for (const auto& value : setting.values) {
        std::vector<const Answer*> with;
        for (const auto& tried : ranked)
          if (setting.is_same(tried.job.strategy, value.strategy)) with.push_back(&tried);
        auto& row = optimum.best_of_values.emplace_back(BestOfValue{setting.name, value.text, {}});
        if (!with.empty()) row.tried = recommended(with);
      }
    }
  }

  double count_settings() const override {
    double members = 0;
    for (const auto& family : families_) members += static_cast<double>(members_of(family).size());
    return members * static_cast<double>(space().jobs.size());
  }

  Strategy written_;
  int gpus_;
  std::vector<StrategySetting> memory_settings_;    ///< searched settings that change the memory
  std::vector<StrategySetting> prefetch_settings_;  ///< the other searched settings
  std::vector<Strategy> families_;
};

}  // namespace

SearchResult search_sharded(const SearchSpace& space, const std::string& engine, const ForEach& for_each) {
  return ShardedSearch{space, engine, for_each}.run();
}

}  // namespace gradway
