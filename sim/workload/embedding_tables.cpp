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
  TableShare share{static_cast<double>(tables.rows()), tables.lookups(), tables.columns()};
  for (const auto& table : tables.tables) share.touched += touched_rows(table, samples);
  return share;
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
    auto& rank = *std::ranges::min_element(of_ranks, [](const TableShare& first, const TableShare& second) {
      return std::pair{first.lookups, first.rows} < std::pair{second.lookups, second.rows};
    });
    rank.rows += static_cast<double>(table.rows);
    rank.lookups += table.lookups;
    rank.columns += tables.width;
    rank.touched += touched_rows(table, samples);
  }
  const auto largest = [&](double TableShare::*amount) {
    return std::ranges::max(of_ranks, {}, amount).*amount;
  };
  return {largest(&TableShare::rows), largest(&TableShare::lookups), largest(&TableShare::columns),
          largest(&TableShare::touched)};
}

}  // namespace gradway
