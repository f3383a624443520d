// SPDX-License-Identifier: Apache-2.0
#include "cli/shell/common_options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/shell/argument_words.hpp"
#include "sim/base/nearest.hpp"
#include "sim/config/yaml/goal_quantities.hpp"
#include "sim/engine/engine.hpp"

namespace gradway::cli {
namespace {

/// An option, and the key that it is short for.
struct Shorthand {
  std::string_view option;
  std::string_view key;
  std::string_view type;
  std::string Shorthands::*value;
};
constexpr std::array shorthands{Shorthand{"--model", "model", "NAME", &Shorthands::model},
                                Shorthand{"--platform", "platform", "NAME", &Shorthands::platform},
                                Shorthand{"--gpus", "job.gpus", "N", &Shorthands::gpus},
                                Shorthand{"--tokens", "campaign.tokens", "N", &Shorthands::tokens},
                                Shorthand{"--samples", "campaign.samples", "N", &Shorthands::samples}};

}  // namespace

std::vector<std::string> engine_names() {
  std::vector<std::string> names{"auto"};
  for (const auto& entry : engines()) names.emplace_back(entry.name);
  return names;
}

void add_shorthands(CLI::App& app, Shorthands& values, bool has_campaign) {
  for (const auto& shorthand : shorthands) {
    if (shorthand.key.starts_with("campaign.") && !has_campaign) continue;
    app.add_option(std::string{shorthand.option}, values.*shorthand.value,
                   fmt::format("short for --set {}={}", shorthand.key, shorthand.type))
        ->type_name(std::string{shorthand.type});
  }
}

std::vector<Override> overrides_of(const std::vector<std::string>& set, const Shorthands& values) {
  auto overrides = parse_overrides(set);
  for (const auto& shorthand : shorthands) {
    const std::string key{shorthand.key};
    const auto& value = values.*shorthand.value;
    if (value.empty()) continue;
    if (std::ranges::find(overrides, key, &Override::key) != overrides.end())
      refuse(fmt::format("'{}' is set by '--set' and by '{}'", key, shorthand.option),
             "leave one of them out");
    overrides.push_back(given_by(shorthand.option, key, value));
  }
  return overrides;
}

CLI::Option* add_flag(CLI::App& app, const std::string& name, bool& flag, const std::string& help) {
  return app.add_flag(name, flag, help)->disable_flag_override();
}

void add_engine(CLI::App& app, std::string& name) {
  app.add_option("--engine", name,
                 fmt::format("engine: {}; auto selects the fastest (default: {})",
                             fmt::join(engine_names(), ", "), name))
      ->type_name("NAME");
}

void check_engine(const std::string& name) {
  const auto names = engine_names();
  if (std::ranges::find(names, name) != names.end()) return;
  refuse(fmt::format("there is no engine '{}'", name), suggestion(name, names));
}

void check_known(const std::string& option, const std::string& name, std::string_view noun,
                 const std::vector<std::string>& known) {
  if (!name.empty() && std::ranges::find(known, name) == known.end())
    refuse(fmt::format("'{} {}': there is no {} of this name", option, name, noun), suggestion(name, known));
}

void add_price_options(CLI::App& app, PriceChoice& choice) {
  add_price_list_options(app, choice);
  app.add_option(
         "--terms", choice.terms,
         fmt::format("payment terms of the nodes: {} (default: on_demand)", fmt::join(terms_words, ", ")))
      ->type_name("TERMS");
}

void add_price_list_options(CLI::App& app, PriceChoice& choice) {
  app.add_option("--prices", choice.file,
                 "prices: a file, or a name from 'gradway list prices' (default: the platform's own)")
      ->type_name("FILE");
  app.add_option("--price-date", choice.date, "date of the prices (default: the newest)")->type_name("DATE");
  app.add_option("--region", choice.region, "region of the prices (default: the first of a platform)")
      ->type_name("NAME");
}

std::optional<double> percentage(std::string_view option, const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  std::string_view number = *text;
  if (number.ends_with('%')) number.remove_suffix(1);
  number = number.substr(0, number.find_last_not_of(' ') + 1);
  double percent = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), percent);
  if (error != std::errc{} || end != number.data() + number.size() || !std::isfinite(percent) ||
      percent < 0) {
    refuse(fmt::format("'{} {}' is not a percentage", option, *text),
           "write a percentage, such as '3' or '3%'");
  }
  return percent / 100;
}

void add_max_lost(CLI::App& app, std::optional<std::string>& max_lost) {
  app.add_option("--max-lost", max_lost, "exit status 4 if a larger share of the time is lost")
      ->type_name("PERCENT");
}

Status status_of_loss(double lost_share, const std::optional<double>& most, std::ostream& messages) {
  if (!most || lost_share <= *most) return Status::done;
  messages << fmt::format("error: {:.2f} % of the time is lost, more than the limit of {:.4g} %\n",
                          lost_share * 100, *most * 100);
  return Status::limit_passed;
}

CLI::Option* add_page_data(CLI::App& app, bool& page_data) {
  return add_flag(app, "--page-data", page_data, "print the data of report.html as JSON");
}

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
