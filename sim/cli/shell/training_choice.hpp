// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sim/scenario/scenario.hpp"
#include "sim/study/compare/training.hpp"

namespace CLI {
class App;
}

namespace gradway::cli {

/// What the options say of a whole training; empty if not given.
struct TrainingChoice {
  std::string tokens;
  std::string samples;
  std::string deadline;
  std::string budget;
};

/// Adds `--tokens`, `--samples`, `--deadline` and `--budget`.
void add_training_choice(CLI::App& app, TrainingChoice& choice);

/// @return nothing if nothing was given. @throws ConfigError for what cannot be read, and for limits of
/// nothing
std::optional<TrainingGoal> training_goal(const TrainingChoice& choice);

/// @throws ConfigError if the scenario does not train, or is not told in such units
void check_goal(const std::optional<TrainingGoal>& goal, const TrainingChoice& choice,
                const Scenario& scenario);

}  // namespace gradway::cli
