// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/files/text_file.hpp"
#include "sim/platform/price.hpp"

namespace gradway {

/// A platform that prices can be of.
struct PricedNode {
  std::string platform;
  std::string gpu;  ///< file of platforms/gpus
  int gpus = 1;     ///< of a node
};

struct PriceTableOptions {
  std::string date;  ///< of prices without one; empty: each needs its own
  std::string
      platform;  ///< stands for all nodes with its GPU; empty: readers/prices/accelerators.txt decides
};

/// A price of a table, in US dollars per hour.
struct TablePrice {
  std::string platform;
  double usd = 0;
  bool by_gpu = false;  ///< of one GPU, else of a node
  std::string region;
  std::string date;
  Terms terms = Terms::on_demand;
};

struct PriceTable {
  bool is_skypilot = false;        ///< SkyPilot's catalogue, else a table with the columns of docs/files.md
  std::vector<TablePrice> prices;  ///< in the order of the file
  std::vector<std::string> left_out;  ///< rows without a price here, a sentence for each reason
};

/// Reads prices of comma-separated values: SkyPilot's vms.csv, or a table with the columns of docs/files.md.
/// Of several rows for the same platform, region, terms and date that with the most GPUs is used, of equal
/// ones the cheapest.
/// @param nodes all platforms @throws ConfigError with the problems at their places
PriceTable read_price_table(const TextFile& file, const std::vector<PricedNode>& nodes,
                            const PriceTableOptions& options);

/// A file for platforms/prices. @pre the table has prices
std::string prices_yaml(const PriceTable& table, const std::string& name);

}  // namespace gradway
