// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/shell/training_options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/cli/commands.hpp"
#include "sim/cli/shell/option_value.hpp"
#include "sim/config/yaml/goal_quantities.hpp"

namespace gradway::cli {

void add_training_options(CLI::App& app, TrainingOptions& choice) {
  app.add_option("--tokens", choice.tokens,
                 "number of tokens to train on, such as 300B; adds time and cost of the training")
      ->type_name("N");
  app.add_option("--samples", choice.samples,
                 "number of samples to train on, such as 90M; adds time and cost of the training")
      ->type_name("N");
  app.add_option("--deadline", choice.deadline, "time limit of the training, such as '14 days'")
      ->type_name("TIME");
  app.add_option("--budget", choice.budget, "cost limit of the training, such as '100k USD'")
      ->type_name("USD");
}

void add_campaign_keys(std::vector<Override>& overrides, const TrainingOptions& choice) {
  if (!choice.tokens.empty()) overrides.push_back(given_by("--tokens", "campaign.tokens", choice.tokens));
  if (!choice.samples.empty()) overrides.push_back(given_by("--samples", "campaign.samples", choice.samples));
}

std::optional<TrainingGoal> training_goal(const TrainingOptions& choice) {
  if (!choice.tokens.empty() && !choice.samples.empty())
    refuse("'--tokens' and '--samples' are both given", "give one of them");
  if (choice.tokens.empty() && choice.samples.empty()) {
    for (const auto& [name, value] :
         {std::pair{"--deadline", choice.deadline}, {"--budget", choice.budget}}) {
      if (!value.empty())
        refuse(fmt::format("'{} {}' is a limit of a training whose length is not given", name, value),
               "give the amount of data: '--tokens 300B' or '--samples 90M'");
    }
    return std::nullopt;
  }
  return TrainingGoal{.tokens = value_of("--tokens", choice.tokens, config::tokens),
                      .samples = value_of("--samples", choice.samples, config::samples),
                      .deadline = value_of("--deadline", choice.deadline, config::time_span),
                      .budget_usd = value_of("--budget", choice.budget, config::dollars)};
}

void check_goal(const std::optional<TrainingGoal>& goal, const TrainingOptions& choice,
                const Scenario& scenario) {
  if (!goal) return;
  const auto option = goal->tokens ? "--tokens " + choice.tokens : "--samples " + choice.samples;
  if (!trains(scenario.job.strategy))
    refuse(fmt::format("'{}' is given, but a collective does not train a model", option),
           "leave it out, or use a scenario with a model");
  if (!goal->tokens || scenario.model.tokens_per_sample > 0) return;
  const auto& name = scenario.model.name;
  if (scenario.model.profile)
    refuse(fmt::format("'{}' is given, but the profile '{}' does not have the number of tokens per sample",
                       option, name),
           "add 'sequence: TOKENS' to its file if it is a model of text, or give '--samples'");
  refuse(fmt::format("'{}' is given, but '{}' is not a model of text", option, name),
         "give '--samples' instead");
}

}  // namespace gradway::cli
