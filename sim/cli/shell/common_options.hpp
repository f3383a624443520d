// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/config.hpp"

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

/// Adds `--page-data`. @return the option
CLI::Option* add_page_data(CLI::App& app, bool& page_data);

}  // namespace gradway::cli
