// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/study/search/layouts.hpp"

namespace gradway {

/// Frameworks whose recipes and layouts a plan can have.
inline constexpr std::array<std::string_view, 2> planned_frameworks{"pytorch", "megatron"};

// The largest values that a plan may have.
inline constexpr int most_planned_gpus = 1 << 20;
inline constexpr int most_samples_per_step = 1'000'000'000;
inline constexpr int most_planned_seeds = 1'000'000;

/// A training for which hardware is to be chosen.
struct TrainingPlan {
  std::string model;
  std::string framework = "pytorch";  ///< one of `planned_frameworks`
  int global_batch = 0;               ///< samples per step; 0: the default, see `samples_per_step`
  std::vector<int> compared_gpus{};   ///< numbers of GPUs over which the default step is divided
  std::string failures = "llama3";    ///< a model of failures; none: nothing fails
  std::vector<Override> set;          ///< other keys of the scenario, such as "campaign.tokens"
  PriceChoice price{};
};

struct Cluster {
  std::string platform;
  int gpus = 0;
  std::vector<Override> layout;  ///< keys of the layout that was chosen before; empty: none
};

/// A scenario that has no file.
struct PlannedScenario {
  std::string name;
  std::vector<Override> set;
  DataPath data;  ///< contains the text of the scenario
  PriceChoice price{};

  Scenario load() const { return load_scenario(name, set, data, price); }
};

/// Storage for the checkpoints of a campaign that does not say where these go: like that of Llama 3.
Override assumed_checkpoints(int gpus);

/// The training on a cluster: the recipe of its framework with the cluster's layout and the plan's keys.
/// Without a layout each GPU has one sample of a step. A campaign that does not say where its checkpoints go
/// has storage like that of Llama 3; spot nodes come and go as AWS's advisor says, unless the plan does.
/// @throws ConfigError for unknown names
PlannedScenario scenario_on(const TrainingPlan& plan, const Cluster& cluster, const DataPath& data);

/// The layout of a training on a cluster.
struct LayoutOnCluster {
  Scenario scenario;
  Answer chosen;
  LayoutSearchResult search;  ///< empty for models that cannot be distributed
};

/// The samples of a step: those of the plan; else about 4 Mi tokens, 1,024 images or 65,536 samples of a
/// recommendation model, namely the power of two that is nearest after multiplication with the odd factors of
/// all compared numbers of GPUs, so that samples divide over data-parallel ranks.
/// @param scenario of the training on any cluster
int samples_per_step(const TrainingPlan& plan, const Scenario& scenario);

/// Finds a layout by a search of this effort. A model that cannot be distributed is replicated, with the
/// largest batch per GPU that fits.
/// @throws ConfigError if no layout has this global batch, or none fits
LayoutOnCluster layout_on(const TrainingPlan& plan, const Cluster& cluster, const DataPath& data,
                          const SearchOptions& options = {}, const SearchEffort& effort = quick_search());

}  // namespace gradway
