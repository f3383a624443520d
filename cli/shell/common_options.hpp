// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cli/shell/failure.hpp"
#include "sim/config/config.hpp"
#include "sim/config/yaml/node.hpp"
#include "sim/config/yaml/quantities.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/study/compare/training.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace gradway::cli {

/// Adds an option without a value. @return the option
CLI::Option* add_flag(CLI::App& app, const std::string& name, bool& flag, const std::string& help);

/// Adds `--engine NAME`. @param name holds the default
void add_engine(CLI::App& app, std::string& name);

/// @throws ConfigError with the nearest name if the engine does not exist
void check_engine(const std::string& name);

/// Values of the options that are short for `--set`; empty if not given.
struct Shorthands {
  std::string model;
  std::string platform;
  std::string gpus;
  std::string tokens;
  std::string samples;
};

/// Adds `--model`, `--platform` and `--gpus`, short for `--set model=...`, `platform` and `job.gpus`.
/// @param has_campaign also `--tokens` and `--samples`, for `campaign.tokens` and `campaign.samples`
void add_shorthands(CLI::App& app, Shorthands& values, bool has_campaign = false);

/// The overrides of `--set` and of the shorthands. @throws ConfigError for a key that both give
std::vector<Override> overrides_of(const std::vector<std::string>& set, const Shorthands& values);

/// @param name empty if not given @param noun "model"
/// @throws ConfigError with near names if the name is unknown
void check_known(const std::string& option, const std::string& name, std::string_view noun,
                 const std::vector<std::string>& known);

/// Adds `--prices`, `--price-date`, `--region` and `--terms`.
void add_price_options(CLI::App& app, PriceChoice& choice);
/// The same without `--terms`, for campaigns, whose scenario has them.
void add_price_list_options(CLI::App& app, PriceChoice& choice);

/// An option in percent, with or without its sign, as a fraction; nothing if it is not given.
/// @throws ConfigError if it is not a percentage
std::optional<double> percentage(std::string_view option, const std::optional<std::string>& text);

/// Adds `--max-lost`, in percent.
void add_max_lost(CLI::App& app, std::optional<std::string>& max_lost);
/// The status of a run that loses a share of its time. Says so if the share is larger than allowed.
/// @param most allowed; none: any share
Status status_of_loss(double lost_share, const std::optional<double>& most, std::ostream& messages);

/// Adds `--page-data`. @return the option
CLI::Option* add_page_data(CLI::App& app, bool& page_data);

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

/// Reads the value of an option as a file's value would be read; messages name the option.
/// @return nothing for an empty text
template <class Parse>
auto value_of(const std::string& option, const std::string& text, const Parse& parse)
    -> std::optional<std::invoke_result_t<const Parse&, const config::Node&>> {
  if (text.empty()) return std::nullopt;
  Where where;
  where.file = option;
  return parse(config::Node{.kind = config::Node::Kind::scalar, .text = text, .where = where});
}

}  // namespace gradway::cli
