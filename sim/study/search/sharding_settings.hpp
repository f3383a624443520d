// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace gradway {

/// A job's strategy with one of its settings at a value.
struct SettingValue {
  std::string text;  ///< as a scenario has it; "": the key is left out
  Strategy strategy;
  std::string words{};  ///< "parameters kept after the forward pass", if `explain` asks for it
};

/// A setting of a strategy that shards, which changes nothing of the result of the training.
struct ShardingSetting {
  std::string name;                                      ///< "wrap", as `optimize --over` has it
  std::string key;                                       ///< "strategy.wrap"
  std::vector<SettingValue> values;                      ///< worth a try; the framework's own first
  bool is_prefetch = false;                               ///< it holds nothing more: prefetches
  std::function<void(Strategy&, const Strategy&)> assign;  ///< sets it as the second strategy has it

  /// Do two strategies have the same value of it?
  bool is_same(const Strategy& one, const Strategy& other) const;
};

/// Empty for strategies that do not shard.
std::vector<ShardingSetting> sharding_settings(const Scenario& scenario);

/// The strategy with every setting at the framework's own value.
Strategy framework_defaults(const std::vector<ShardingSetting>& all, Strategy strategy);

/// Whether settings agree with each other: ranks that are resharded over divide those that are sharded over.
bool is_consistent(const Strategy& strategy, int gpus);

/// The strategy that issues the same, with as many settings as possible at the framework's own value.
Strategy simplest(Strategy strategy, int gpus);

/// Name and text of each setting's value in a strategy, but for values that are not among the setting's.
std::vector<std::pair<std::string, std::string>> chosen_values(const std::vector<ShardingSetting>& settings,
                                                           const Strategy& strategy);

}  // namespace gradway
