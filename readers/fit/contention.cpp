// SPDX-License-Identifier: Apache-2.0
#include "readers/fit/contention.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "readers/fit/robust_line.hpp"
#include "sim/base/quantiles.hpp"
#include "sim/cost/contention.hpp"

namespace gradway {
namespace {

/// A matrix product of many waves.
Footprint large_product(Precision precision) {
  return {KernelClass::matrix, precision, 0, 0};
}

SlowdownSearch search_of(Precision precision, int channels, const NodeFacts& node) {
  SlowdownSearch search;
  search.known_slowdown = wave_slowdown(large_product(precision), node.multiprocessors, channels);
  search.is_serialized = channels > 0;
  return search;
}

double in_mb(Bytes size) {
  return size.value() / 1e6;
}

/// Such as "20 all-reduces of 268 MB concurrent with 16 products of 4096: error of kernels 0.0 %, of
/// collectives 0.3 %".
std::string source_of(const ContentionRow& row, const EndErrors& errors) {
  return fmt::format(
      "{} all-reduces of {:.0f} MB concurrent with {} products of {}: error of kernels {:.1f} %, of "
      "collectives {:.1f} %",
      row.collectives, in_mb(row.size), row.kernels, row.side, 100 * std::abs(errors.kernels),
      100 * std::abs(errors.collectives));
}

/// The same for several experiments.
std::string source_of(const std::vector<ContentionTrial>& trials, const std::vector<EndErrors>& errors) {
  if (trials.size() == 1) return source_of(trials.front().together, errors.front());
  std::set<int> sides;
  std::vector<double> kernels;
  std::vector<double> collectives;
  for (const auto& trial : trials) sides.insert(trial.together.side);
  for (const auto& error : errors) {
    kernels.push_back(error.kernels);
    collectives.push_back(error.collectives);
  }
  const auto [least, most] =
      std::ranges::minmax(trials, {}, [](const auto& trial) { return trial.together.size; });
  const auto error_text = [](const FitError& error) {
    return fmt::format("{:.1f} % (worst {:.1f} %)", 100 * error.median, 100 * error.worst);
  };
  return fmt::format(
      "{} experiments, all-reduces of {:.3g} to {:.3g} MB concurrent with products of {}: error of kernels "
      "{}, of collectives {}",
      trials.size(), in_mb(least.together.size), in_mb(most.together.size), fmt::join(sides, ", "),
      error_text(*fit_error(kernels)), error_text(*fit_error(collectives)));
}

ContentionFactors fit_group(const std::vector<ContentionTrial>& trials, int channels, const NodeFacts& node) {
  const auto& first = trials.front().together;
  const auto search = search_of(first.precision, channels, node);
  std::vector<MeasuredTrial> measured;
  for (const auto& trial : trials) measured.push_back(trial.measured);
  const auto best = find_slowdowns(measured, search);
  std::vector<EndErrors> errors;
  for (const auto& trial : measured) errors.push_back(end_errors(trial, best, search));
  return {.transport = first.transport,
          .precision = first.precision,
          .ranks = first.ranks,
          .channels = channels,
          .kernel_slowdown = best.kernel,
          .collective_slowdown = best.collective,
          .measured_on = "",
          .source = source_of(trials, errors)};
}

/// Rows with the same key belong to one experiment.
auto key(const ContentionRow& row) {
  return std::tuple{row.transport, row.ranks, row.precision, row.channels, row.side, row.size};
}

auto order(const ContentionTrial& trial) {
  const auto& row = trial.together;
  return std::tuple{key(row), row.kernels, row.collectives, row.kernel_time, row.collective_time};
}

}  // namespace

std::vector<ContentionTrial> contention_trials(const std::vector<ContentionRow>& rows) {
  std::vector<ContentionTrial> trials;
  for (const auto& together : rows) {
    if (!together.together) continue;
    std::vector<double> kernel;
    std::vector<double> collective;
    for (const auto& row : rows) {
      if (row.together || key(row) != key(together)) continue;
      kernel.push_back(row.kernel_time.value());
      collective.push_back(row.collective_time.value());
    }
    if (kernel.empty()) continue;
    trials.push_back(
        {together,
         {{Seconds{lower_median(kernel)}, together.kernels, Seconds{lower_median(collective)},
           together.collectives},
          {together.kernel_time * together.kernels, together.collective_time * together.collectives}}});
  }
  std::ranges::stable_sort(trials, {}, order);
  return trials;
}

int channels_of(const ContentionRow& row, const NodeFacts& node) {
  if (node.multiprocessors == 0) return 0;
  if (row.channels > 0) return row.channels;
  const auto known = node.channels.find({row.transport, row.ranks});
  return known == node.channels.end() ? 0 : known->second;
}

std::vector<ContentionFactors> fit_contention(const std::vector<ContentionRow>& rows, const NodeFacts& node) {
  std::map<std::tuple<Transport, int, Precision, int>, std::vector<ContentionTrial>> groups;
  for (const auto& trial : contention_trials(rows)) {
    const auto& row = trial.together;
    if (row.channels > 0 && node.multiprocessors == 0) continue;
    groups[{row.transport, row.ranks, row.precision, channels_of(row, node)}].push_back(trial);
  }
  std::vector<ContentionFactors> fitted;
  for (const auto& [what, trials] : groups) fitted.push_back(fit_group(trials, std::get<3>(what), node));
  return fitted;
}

std::optional<EndErrors> contention_errors(const ContentionTrial& trial,
                                           const std::vector<ContentionFactors>& entries,
                                           const NodeFacts& node) {
  const auto& row = trial.together;
  const auto channels = channels_of(row, node);
  const auto* entry =
      measured_contention(entries, row.transport, row.ranks, large_product(row.precision), channels);
  if (entry == nullptr || (entry->channels > 0 && channels == 0)) return std::nullopt;
  return end_errors(trial.measured, {entry->kernel_slowdown, entry->collective_slowdown},
                    search_of(row.precision, entry->channels > 0 ? channels : 0, node));
}

}  // namespace gradway
