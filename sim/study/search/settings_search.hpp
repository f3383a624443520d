// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
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

/// By which settings of different batches are compared.
inline double cost(const Answer& tried) {
  return tried.time_per_sample().value();
}

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

  /// Of these settings the cached ones that can run.
  std::vector<Answer> runnable(const std::vector<Setting>& settings);

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

/// The settings that a search tries: families, whose members differ in little but time.
class SettingGenerator {
 public:
  virtual ~SettingGenerator() = default;

  /// Simulates the settings that may be the best.
  virtual void try_settings(SettingSimulator& simulator) const = 0;
  /// All settings that `try_settings` may have simulated, by family.
  virtual std::vector<Setting> settings() const = 0;
  /// Number of settings, with those that are known to take as long as others.
  virtual double count() const = 0;
  /// Adds what the results have of this strategy only.
  virtual void add_details(Optimum&, SettingSimulator&) const {}
};

std::unique_ptr<SettingGenerator> settings_of_ddp(const SearchSpace& space);
std::unique_ptr<SettingGenerator> sharded_settings(const SearchSpace& space);

}  // namespace gradway
