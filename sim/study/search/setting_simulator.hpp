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
  std::size_t job = 0;
  Strategy strategy;
};

/// Simulates settings, each step once: those whose steps are the same share a simulation.
class SettingSimulator {
 public:
  /// @param jobs outlive this; all of the same model
  SettingSimulator(const std::vector<Scenario>& jobs, std::string engine, ForEach for_each)
      : jobs_{jobs}, engine_{std::move(engine)}, for_each_{std::move(for_each)} {}

  /// Simulates what was not simulated yet. @throws what the first of them that failed threw
  void try_all(const std::vector<Setting>& settings);

  /// Simulates the setting if need be.
  SettingResult get(const Setting& setting);

  /// Is it simulated, so that `get` costs nothing?
  bool has(const Setting& setting) { return tried_.contains(key_of(setting)); }

  std::size_t simulated() const { return tried_.size(); }

  /// Settings that cannot run: of each family the one that needs least, and what NCCL refuses for the same
  /// reason but once.
  std::vector<SettingResult> left_out() const;

 private:
  /// All that a step depends on: the job, the strategy as simply as it can be said, and DDP's cap by where
  /// its buckets end. What a static graph saves is not modelled.
  using Key = std::tuple<std::size_t, Strategy, std::vector<int>>;
  Key key_of(const Setting& setting);
  SettingResult simulate_one(const Setting& setting) const;

  const std::vector<Scenario>& jobs_;
  std::string engine_;
  ForEach for_each_;
  std::map<BucketCap, std::vector<int>> bucket_ends_;  ///< of caps that were asked for
  std::map<Key, SettingResult> tried_;
};

}  // namespace gradway
