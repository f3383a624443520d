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

/// The `price` of a platform's file: one, or a list of them. @return in the order of the file
std::vector<Price> read_prices(Reader& platform);

/// The file of `--prices`: prices by platform, each in the order of the file. What is wrong with it, a
/// platform that nobody describes included, goes to the problems.
std::map<std::string, std::vector<Price>> load_prices(const PriceChoice& choice, const DataPath& data,
                                                      const Lookup& lookup, Problems& problems);

/// The price that counts: the newest, or that of the asked day (the newest that is not younger), in the asked
/// region or that of the first price.
/// @return none if the platform has no prices at all
/// @throws ConfigError at the option if there are prices, but none that was asked for
std::optional<Price> choose_price(const std::vector<Price>& prices, const PriceChoice& choice,
                                  const std::string& platform);

}  // namespace gradway::config
