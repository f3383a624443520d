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
  std::string text;  ///< as in a scenario; empty: the key is left out
  Strategy strategy;
  std::string words{};  ///< "parameters kept after the forward pass"; empty unless `explain` tries this value
};

/// A setting of a sharded strategy that does not change the result of the training.
struct ShardingSetting {
  std::string name;                  ///< "wrap", as in `optimize --over`
  std::string key;                   ///< "strategy.wrap"
  std::vector<SettingValue> values;  ///< to try; the framework's default first
  bool is_prefetch = false;          ///< it changes overlap, but not memory
  std::function<void(Strategy&, const Strategy&)>
      assign;  ///< copies it from the second strategy to the first

  /// Whether two strategies have the same value of it.
  bool is_same(const Strategy& first, const Strategy& second) const;
};

/// Empty for strategies that do not shard.
std::vector<ShardingSetting> sharding_settings(const Scenario& scenario);

/// The strategy with all settings at the framework's defaults.
Strategy framework_defaults(const std::vector<ShardingSetting>& settings, Strategy strategy);

/// Whether the settings are compatible: for example, the ranks that parameters are resharded over divide the
/// ranks that they are sharded over.
bool is_consistent(const Strategy& strategy, int gpus);

/// The canonical form: the strategy with the same step and as many settings as possible at their defaults.
Strategy simplest(Strategy strategy, int gpus);

/// Name and text of the value of each setting in a strategy. Values that the setting does not list are left
/// out.
std::vector<std::pair<std::string, std::string>> chosen_values(const std::vector<ShardingSetting>& settings,
                                                               const Strategy& strategy);

}  // namespace gradway
