// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/study/compare/training.hpp"

namespace CLI {
class App;
}

namespace gradway::cli {

/// Options for a whole training; empty if not given.
struct TrainingOptions {
  std::string tokens;
  std::string samples;
  std::string deadline;
  std::string budget;
};

/// Adds `--tokens`, `--samples`, `--deadline` and `--budget`.
void add_training_options(CLI::App& app, TrainingOptions& choice);

/// Adds the keys of a campaign that `--tokens` and `--samples` are short for.
void add_campaign_keys(std::vector<Override>& overrides, const TrainingOptions& choice);

/// @return none if no option was given @throws ConfigError for invalid values, and for limits without an
/// amount of data
std::optional<TrainingGoal> training_goal(const TrainingOptions& choice);

/// @throws ConfigError if the scenario does not train, or if its model does not have tokens
void check_goal(const std::optional<TrainingGoal>& goal, const TrainingOptions& choice,
                const Scenario& scenario);

}  // namespace gradway::cli
