// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <tuple>
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

}  // namespace gradway
