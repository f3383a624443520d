// SPDX-License-Identifier: Apache-2.0
// The settings of sharded strategies that a search tries.
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

class ShardedSettings final : public SettingGenerator {
 public:
  explicit ShardedSettings(const SearchSpace& space) : space_{space}, gpus_{space.jobs.front().job.gpus} {
    for (const auto& setting : space.settings)
      (setting.is_prefetch ? prefetch_settings_ : memory_settings_).push_back(setting);
    families_ = canonical(combinations(
        memory_settings_, framework_defaults(prefetch_settings_, space.jobs.front().job.strategy)));
  }

  void try_settings(SettingSimulator& simulator) const override {
    std::vector<Setting> first;
    for (const auto job : first_jobs())
      for (const auto& family : families_) first.push_back({job, family});
    simulator.try_all(first);
    std::vector<Setting> recomputing;
    for (const auto& [without, with] : space_.recompute)
      for (const auto& family : families_)
        if (!simulator.get({without, family}).can_run()) recomputing.push_back({with, family});
    simulator.try_all(recomputing);
    simulator.try_all(prefetches_of_good_ones(simulator.runnable(settings())));
  }

  std::vector<Setting> settings() const override {
    std::vector<Setting> settings;
    for (std::size_t job = 0; job < space_.jobs.size(); ++job)
      for (const auto& family : families_)
        for (auto& member : members_of(family)) settings.push_back({job, member});
    return settings;
  }

  double count() const override {
    double members = 0;
    for (const auto& family : families_) members += static_cast<double>(members_of(family).size());
    return members * static_cast<double>(space_.jobs.size());
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
    for (std::size_t job = 0; job < space_.jobs.size(); ++job)
      if (std::ranges::find(space_.recompute, job, &RecomputeToTry::with) == space_.recompute.end())
        jobs.push_back(job);
    return jobs;
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

  const SearchSpace& space_;
  int gpus_;
  std::vector<StrategySetting> memory_settings_;    ///< searched settings that change the memory
  std::vector<StrategySetting> prefetch_settings_;  ///< the other searched settings
  std::vector<Strategy> families_;
};

}  // namespace

std::unique_ptr<SettingGenerator> sharded_settings(const SearchSpace& space) {
  return std::make_unique<ShardedSettings>(space);
}

}  // namespace gradway
