// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/embedding_tables.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace gradway {
namespace {

/// Different rows that lookups touch.
double touched_rows(const EmbeddingTable& table, double samples) {
  const auto rows = static_cast<double>(table.rows);
  return -rows * std::expm1(-samples * table.lookups / rows);
}

TableShare whole(const EmbeddingTables& tables, double samples) {
  TableShare all{static_cast<double>(tables.rows()), tables.lookups(), tables.columns()};
  for (const auto& table : tables.tables) all.touched += touched_rows(table, samples);
  return all;
}

}  // namespace

std::int64_t EmbeddingTables::rows() const {
  return std::transform_reduce(tables.begin(), tables.end(), std::int64_t{0}, std::plus<>{},
                               [](const EmbeddingTable& table) { return table.rows; });
}

double EmbeddingTables::lookups() const {
  return std::transform_reduce(tables.begin(), tables.end(), 0.0, std::plus<>{},
                               [](const EmbeddingTable& table) { return table.lookups; });
}

Bytes EmbeddingTables::size() const {
  return Bytes{number_bytes * static_cast<double>(rows()) * width};
}

TableShare largest_share(const EmbeddingTables& tables, TableSharding sharding, int ranks, double samples) {
  auto share = whole(tables, samples);
  if (ranks == 1) return share;
  if (sharding == TableSharding::row_wise) {  // each rank sums its rows of every table
    share.rows /= ranks;
    share.lookups /= ranks;
    share.touched /= ranks;
    return share;
  }
  auto order = tables.tables;
  std::ranges::stable_sort(order, std::greater<>{}, &EmbeddingTable::lookups);
  std::vector<TableShare> of_ranks(static_cast<std::size_t>(ranks));
  for (const auto& table : order) {
    auto& rank = *std::ranges::min_element(of_ranks, [](const TableShare& one, const TableShare& other) {
      return std::pair{one.lookups, one.rows} < std::pair{other.lookups, other.rows};
    });
    rank.rows += static_cast<double>(table.rows);
    rank.lookups += table.lookups;
    rank.columns += tables.width;
    rank.touched += touched_rows(table, samples);
  }
  const auto largest = [&](double TableShare::*of) { return std::ranges::max(of_ranks, {}, of).*of; };
  return {largest(&TableShare::rows), largest(&TableShare::lookups), largest(&TableShare::columns),
          largest(&TableShare::touched)};
}

}  // namespace gradway
