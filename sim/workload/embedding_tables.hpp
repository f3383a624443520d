// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"

namespace gradway {

/// How the ranks divide the embedding tables of a recommendation model. @source TorchRec,
/// torchrec/distributed/types.py, ShardingType
enum class TableSharding : std::uint8_t {
  table_wise,  ///< each table is on one rank
  row_wise     ///< each rank has a range of the rows of every table
};
inline constexpr std::array<std::string_view, 2> table_sharding_words{"table_wise", "row_wise"};
constexpr std::string_view name_of(TableSharding sharding) {
  return table_sharding_words[static_cast<std::size_t>(sharding)];
}

/// The embedding table of a categorical feature.
struct EmbeddingTable {
  std::int64_t rows = 0;
  double lookups = 1;  ///< per sample; their rows are summed
};

/// Tables of rows of equal width, in fp32.
struct EmbeddingTables {
  static constexpr double number_bytes = 4;
  std::vector<EmbeddingTable> tables;
  int width = 0;  ///< numbers of a row

  bool empty() const { return tables.empty(); }
  std::int64_t rows() const;
  double lookups() const;  ///< per sample
  /// Numbers per sample after the rows of each table were summed.
  double columns() const { return static_cast<double>(tables.size()) * width; }
  Bytes size() const;
};

/// The largest share of the tables that a rank has, by quantity. All other ranks wait for it.
struct TableShare {
  double rows = 0;
  double lookups = 0;  ///< per sample
  double columns = 0;  ///< per sample: numbers that it computes for each sample
  double touched = 0;  ///< different rows that the samples look up
};

/// Tables are assigned in the order of their lookups, each to the rank with the fewest lookups so far.
/// Lookups are spread evenly over the rows of a table, so that n lookups of R rows touch R (1 - exp(-n / R)).
/// @param samples of all ranks @source TorchRec, torchrec/distributed/planner/partitioners.py,
/// GreedyPerfPartitioner
TableShare largest_share(const EmbeddingTables& tables, TableSharding sharding, int ranks, double samples);

}  // namespace gradway
