// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/config/config.hpp"

namespace gradway {

/// The prices of a file of prices, by platform, in the order of the file.
/// @param name as `--prices` takes it @throws ConfigError with every problem of the file
std::map<std::string, std::vector<Price>> load_price_list(const std::string& name, const DataPath& data);

/// A price that is more days older than the newest known one may no longer hold: half a year (a choice).
inline constexpr int stale_days = 180;

/// Days from one date to another, such as from "2026-07-20" to "2026-11-26"; negative if that is earlier.
/// @pre both are valid dates
int days_between(const std::string& start, const std::string& end);

}  // namespace gradway
