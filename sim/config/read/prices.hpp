// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/config/find/lookup.hpp"
#include "sim/config/yaml/reader.hpp"
#include "sim/platform/platform.hpp"

namespace gradway::config {

/// Reads the `price` of a platform's file: one price or a list. @return in the order of the file
std::vector<Price> read_prices(Reader& platform);

/// Reads the file of `--prices`: prices by platform, in the order of the file. Problems include unknown
/// platforms.
std::map<std::string, std::vector<Price>> load_prices(const PriceChoice& choice, const DataPath& data,
                                                      const Lookup& lookup, Problems& problems);

/// Chooses a price: the newest, or the newest up to the given date, in the given region or that of the first
/// price.
/// @return empty if the platform has no prices
/// @throws ConfigError at the option if no price matches
std::optional<Price> choose_price(const std::vector<Price>& prices, const PriceChoice& choice,
                                  const std::string& platform);

}  // namespace gradway::config
