// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/config/config.hpp"

namespace CLI {
class App;
}

namespace gradway::cli {

/// Adds `--engine NAME`; `name` holds the default.
void add_engine(CLI::App& app, std::string& name);

/// @throws ConfigError with the nearest name if there is no such engine
void check_engine(const std::string& name);

/// What the short hands of `--set` say; empty if not given.
struct ShortHands {
  std::string model;
  std::string platform;
  std::string gpus;
};

/// Adds `--model`, `--platform` and `--gpus`, short for `--set model=...`, `platform` and `job.gpus`.
void add_short_hands(CLI::App& app, ShortHands& given);

/// What `--set` and the short hands change. @throws ConfigError for a key that both give
std::vector<Override> overrides_of(const std::vector<std::string>& set, const ShortHands& given);

/// @throws ConfigError with near names for a name that is given, but not known. @param noun "model"
void check_known(const std::string& option, const std::string& name, std::string_view noun,
                 const std::vector<std::string>& known);

/// Adds `--prices`, `--price-date` and `--region`.
void add_price_choice(CLI::App& app, PriceChoice& choice);

}  // namespace gradway::cli
