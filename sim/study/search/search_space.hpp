// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/study/compare/sweep.hpp"
#include "sim/study/compare/training.hpp"
#include "sim/study/search/bucket_caps.hpp"
#include "sim/study/search/strategy_settings.hpp"

namespace gradway {

/// The same job without and with activation checkpointing, which is tried with what does not fit otherwise.
struct RecomputeToTry {
  std::size_t without = 0;  ///< index in SearchSpace::jobs
  std::size_t with = 0;
};

/// The search space: the cross product of these values. A key that is not searched has one value.
struct SearchSpace {
  std::vector<Scenario> jobs;  ///< the job as written, then with other values of `job_settings` and recompute
  std::vector<Settings> changes{};   ///< by job: keys that differ from the job as written
  std::vector<Axis> job_settings{};  ///< searched keys that are not settings of the strategy
  std::vector<RecomputeToTry> recompute{};
  std::vector<StrategySetting> settings{};  ///< of the strategy that are searched, with their values
  bool any_bucket_cap = false;              ///< DDP: search all whole MiB in addition to the values
  std::optional<TrainingGoal> goal{};  ///< settings that miss its limits are ranked only if all settings do
};

/// Whether a hook changes the values of gradients.
bool is_lossy(CommHook hook);

/// Whether a strategy is in the search space.
bool has(const SearchSpace& space, const Strategy& strategy);

/// The values to try for a member of DDP: those of a searched setting, else that of the job as written.
template <class Value>
std::vector<Value> values_to_try(const SearchSpace& space, std::string_view name, Value Ddp::*member) {
  const auto setting = std::ranges::find(space.settings, name, &StrategySetting::name);
  if (setting == space.settings.end()) return {std::get<Ddp>(space.jobs.front().job.strategy).*member};
  std::vector<Value> values;
  for (const auto& value : setting->values) values.push_back(std::get<Ddp>(value.strategy).*member);
  return values;
}

/// DDP with PyTorch's defaults.
Ddp pytorch_defaults();

/// The options of a search.
struct SearchRequest {
  std::string scenario;
  std::vector<Override> set;
  std::vector<std::string> over;  ///< "NAME,NAME,..." or "KEY=V1,V2,..."
  bool lossy = false;             ///< also search hooks that change the values of gradients
  PriceChoice price;
};

struct ParsedSearch {
  SearchSpace space;
  std::vector<std::string> keys;         ///< that are searched, as `--over` names them
  std::vector<CommHook> lossy_left_out;  ///< hooks that are not searched because `lossy` is false
};

/// Reads the search space of a request. Keys of the input without values get their `usual_values`.
/// Without `over`, all of these that `set` does not contain are searched: bucket_cap, static_graph,
/// gradient_as_bucket_view and comm_hook of DDP; all settings of FSDP2, FSDP1 and ZeRO
/// (strategy_settings.hpp), and recompute where memory requires it.
/// @throws ConfigError for names that are not settings, settings that are both set and searched, invalid
/// values, lossy hooks that are not allowed, and other strategies
ParsedSearch read_search(const SearchRequest& request, const DataPath& data);

/// Keys of a data loader that can be searched, such as "input.loader_workers".
const std::vector<std::string_view>& input_settings();

/// The values to try for such a key if none are given. They include the job's own value if it can be written
/// as one word. Empty if the scenario implies none, so that values must be given.
/// @pre the scenario's input has a dataset
std::vector<std::string> usual_values(const Scenario& scenario, std::string_view key, const DataPath& data);

/// The value of a key of the input, as a scenario would have it. None if it is left out or is not one word.
std::optional<std::string> written_value(const InputSettings& input, std::string_view key);

}  // namespace gradway
