// SPDX-License-Identifier: Apache-2.0
#include "readers/fit/collective_tables.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "readers/fit/monotone.hpp"
#include "readers/fit/robust_line.hpp"
#include "sim/cost/collective_table.hpp"

namespace gradway {
namespace {

double error(const CollectiveTable& table, const SizedTime& sample) {
  return time_at(table, sample.size) / sample.time - 1;
}

std::optional<FitError> residual(const CollectiveTable& table, const std::vector<SizedTime>& samples) {
  std::vector<double> errors;
  for (const auto& sample : samples) errors.push_back(error(table, sample));
  return fit_error(std::move(errors));
}

/// Error of each inner sample against a table made without it.
std::optional<FitError> interpolation(const std::vector<SizedTime>& kept) {
  std::vector<double> errors;
  for (std::size_t i = 1; i + 1 < kept.size(); ++i) {
    auto remaining = kept;
    remaining.erase(remaining.begin() + static_cast<std::ptrdiff_t>(i));
    CollectiveTable without;
    without.points = monotone(std::move(remaining));
    errors.push_back(error(without, kept[i]));
  }
  return fit_error(std::move(errors));
}

void fit_times(CollectiveTable& table, const std::vector<SizedTime>& samples) {
  auto filtered = remove_outliers(merged_by_size(samples));
  const auto is_outlier = [&](const SizedTime& sample) {
    return std::ranges::find(filtered.outliers, sample.size, &SizedTime::size) != filtered.outliers.end();
  };
  auto without_outliers = samples;
  std::erase_if(without_outliers, is_outlier);
  table.samples = static_cast<int>(samples.size());
  table.points = monotone(filtered.kept);
  table.interpolation = interpolation(filtered.kept);
  table.outliers = std::move(filtered.outliers);
  table.latency = table.points.front().time;
  table.bandwidth = table.points.back().size / table.points.back().time;
  table.residual = residual(table, without_outliers);
  if (!table.outliers.empty()) table.residual_with_outliers = residual(table, samples);
}

/// Distance of the percentiles of the repetitions from their median, the larger one of each row.
std::optional<FitError> spread(const std::vector<const CollectiveRow*>& rows) {
  std::vector<double> errors;
  for (const auto* row : rows) {
    if (!row->spread) continue;
    errors.push_back(std::max(row->spread->high / row->time - 1, 1 - row->spread->low / row->time));
  }
  return fit_error(std::move(errors));
}

}  // namespace

std::vector<CollectiveTable> fit_collectives(const std::vector<CollectiveRow>& rows) {
  std::map<CollectiveKey, std::vector<const CollectiveRow*>> groups;
  for (const auto& row : rows) groups[key_of(row)].push_back(&row);
  std::vector<CollectiveTable> tables;
  for (const auto& [key, group] : groups) {
    auto& table = tables.emplace_back();
    std::tie(table.transport, table.kind, table.algorithm, table.protocol, table.ranks, table.nodes) = key;
    std::vector<SizedTime> samples;
    for (const auto* row : group) samples.push_back({row->size, row->time});
    fit_times(table, samples);
    table.spread = spread(group);
  }
  return tables;
}

}  // namespace gradway
