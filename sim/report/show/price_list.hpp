// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "sim/platform/platform.hpp"
#include "sim/report/format/style.hpp"

namespace gradway::report {

/// The newest price of a platform in a region on some terms.
struct ListedPrice {
  std::string platform;
  std::string list;  ///< the file of prices that has it; empty: the platform's own
  int gpus = 1;      ///< of a node
  Price price;
  std::optional<int>
      age{};  ///< in days, of the price or its exchange rate, if that is older; empty: not asked for
};

/// One row per price: terms, of a node and of a GPU, region, date, age in days, and the file of prices for
/// `--prices`. Sorted by platform, list, region and terms.
void write_prices(std::ostream& out, const std::vector<ListedPrice>& listed, const Style& style);
/// The same as one JSON document, with sources.
void write_prices_json(std::ostream& out, const std::vector<ListedPrice>& listed);

}  // namespace gradway::report
