// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/config/set_keys.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// A job's strategy with one of its settings at a value.
struct SettingValue {
  std::string text;  ///< as in a scenario; empty: the key is left out
  Strategy strategy;
};

/// A setting of a strategy that can be searched, with the values of its row. But for lossy hooks of DDP it
/// does not change the result of the training.
struct StrategySetting {
  std::string name;                  ///< "wrap", as in `optimize --over`
  std::string key;                   ///< "strategy.wrap"
  std::vector<SettingValue> values;  ///< to try; the framework's default first
  bool is_prefetch = false;          ///< it changes overlap, but not memory

  /// Copies the value of one strategy to another.
  void assign(Strategy& target, const Strategy& source) const { copy_key(target, source, name); }
  /// Whether two strategies have the same value of it.
  bool is_same(const Strategy& first, const Strategy& second) const;
};

/// Empty for strategies without an exchange, and for single collectives.
std::vector<StrategySetting> strategy_settings(const Scenario& scenario);

/// The strategy with all settings at the framework's defaults.
Strategy framework_defaults(const std::vector<StrategySetting>& settings, Strategy strategy);

/// Whether the settings are compatible: for example, the ranks that parameters are resharded over divide the
/// ranks that they are sharded over.
bool is_consistent(const Strategy& strategy, int gpus);

/// The canonical form: the strategy with the same step and as many settings as possible at their defaults.
Strategy simplest(Strategy strategy, int gpus);

/// Name and text of the value of each setting in a strategy. Values that the setting does not list are left
/// out.
std::vector<std::pair<std::string, std::string>> chosen_values(const std::vector<StrategySetting>& settings,
                                                               const Strategy& strategy);

}  // namespace gradway
