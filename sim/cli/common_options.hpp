// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/config/config.hpp"

namespace CLI {
class App;
}

namespace gradway::cli {

/// Adds `--engine NAME`; `name` holds the default.
void add_engine(CLI::App& app, std::string& name);

/// @throws ConfigError with the nearest name if there is no such engine
void check_engine(const std::string& name);

/// Adds `--prices`, `--price-date` and `--region`.
void add_price_choice(CLI::App& app, PriceChoice& choice);

}  // namespace gradway::cli
