// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/config.hpp"

namespace CLI {
class App;
}

namespace gradway::cli {

/// Adds `--prices`, `--price-date` and `--region`.
void add_price_choice(CLI::App& app, PriceChoice& choice);

}  // namespace gradway::cli
