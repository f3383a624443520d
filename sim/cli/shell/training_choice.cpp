// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/shell/training_choice.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/cli/commands.hpp"
#include "sim/cli/shell/option_value.hpp"
#include "sim/config/yaml/goal_quantities.hpp"

namespace gradway::cli {

void add_training_choice(CLI::App& app, TrainingChoice& choice) {
  app.add_option("--tokens", choice.tokens,
                 "also time and cost of training on so many, as in 300B (models of text)")
      ->type_name("N");
  app.add_option("--samples", choice.samples, "also time and cost of training on so many, as in 90M")
      ->type_name("N");
  app.add_option("--deadline", choice.deadline, "is the training done in this time? as in '14 days'")
      ->type_name("TIME");
  app.add_option("--budget", choice.budget, "is the training done for this price? as in '100k USD'")
      ->type_name("USD");
}

std::optional<TrainingGoal> training_goal(const TrainingChoice& choice) {
  if (!choice.tokens.empty() && !choice.samples.empty())
    refuse("'--tokens' and '--samples' both say how much is trained on", "choose one");
  if (choice.tokens.empty() && choice.samples.empty()) {
    for (const auto& [name, value] :
         {std::pair{"--deadline", choice.deadline}, {"--budget", choice.budget}}) {
      if (!value.empty())
        refuse(fmt::format("'{} {}' is a limit, but it is not told of what", name, value),
               "say how much is trained on: '--tokens 300B' or '--samples 90M'");
    }
    return std::nullopt;
  }
  return TrainingGoal{.tokens = value_of("--tokens", choice.tokens, config::tokens),
                      .samples = value_of("--samples", choice.samples, config::samples),
                      .deadline = value_of("--deadline", choice.deadline, config::time_span),
                      .budget_usd = value_of("--budget", choice.budget, config::dollars)};
}

void check_goal(const std::optional<TrainingGoal>& goal, const TrainingChoice& choice,
                const Scenario& scenario) {
  if (!goal) return;
  const auto given = goal->tokens ? "--tokens " + choice.tokens : "--samples " + choice.samples;
  if (!trains(scenario.job.strategy))
    refuse(fmt::format("'{}', but a collective alone trains nothing", given),
           "leave it out, or take a scenario with a model");
  if (!goal->tokens || scenario.model.tokens_per_sample > 0) return;
  const auto& name = scenario.model.name;
  if (scenario.model.profile)
    refuse(fmt::format("'{}', but the profile '{}' does not say how many tokens a sample has", given, name),
           "add 'sequence: TOKENS' to its file if it is a model of text; '--samples' counts any others");
  refuse(fmt::format("'{}', but '{}' is no model of text", given, name),
         "'--samples' says how many of its samples are trained on");
}

}  // namespace gradway::cli
