// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/config/find/lookup.hpp"
#include "sim/config/yaml/reader.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/platform/platform.hpp"

namespace gradway::config {

inline constexpr auto payment_terms = [](const Node& node) {
  return one_of<Terms>("payment terms", terms_words)(node);
};

/// Reads the `price` of a platform's file, which is one price or a list, and the `rates` of currencies. Those
/// of a GPU are not yet those of a node: see `of_node`.
/// @return in the order of the file
std::vector<Price> read_prices(Reader& platform);

/// Reads the file of `--prices` likewise: prices by platform, in the order of the file. Problems include
/// unknown platforms.
std::map<std::string, std::vector<Price>> load_prices(const PriceChoice& choice, const DataPath& data,
                                                      const Lookup& lookup, Problems& problems);

/// Chooses a price: the newest, or the newest up to the given date, on the given terms, in the given region
/// or that of the platform's first price.
/// @return empty if the platform has no prices, or none on demand and no terms are given
/// @throws ConfigError at the option if no price matches
std::optional<Price> choose_price(const std::vector<Price>& prices, const PriceChoice& choice,
                                  const std::string& platform);

/// The same on all terms; empty where no price matches. @pre the date of the choice is valid or empty
PriceByTerms prices_by_terms(const std::vector<Price>& prices, const PriceChoice& choice);

}  // namespace gradway::config
