// SPDX-License-Identifier: Apache-2.0
#include "readers/fit/predictions.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "readers/fit/collective_tables.hpp"
#include "readers/fit/contention.hpp"
#include "readers/fit/kernels.hpp"
#include "readers/fit/links.hpp"
#include "readers/fit/robust_line.hpp"
#include "sim/cost/calibration_words.hpp"
#include "sim/cost/collective_table.hpp"
#include "sim/cost/size_text.hpp"

namespace gradway {
namespace {

namespace words = calibration_words;

template <class Words, class Enum>
std::string_view word(const Words& table, Enum value) {
  return table[static_cast<std::size_t>(value)];
}

SampleGroup group_of(Bytes size) {
  if (size < 64_KiB) return SampleGroup::tiny_collectives;
  if (size < 1_MiB) return SampleGroup::small_collectives;
  return size < 64_MiB ? SampleGroup::medium_collectives : SampleGroup::large_collectives;
}

/// Such as "p2p all_reduce ring ll on 4 ranks, 1 MiB".
std::string text_of(const CollectiveRow& row) {
  const auto how = row.algorithm && row.protocol
                       ? fmt::format(" {} {}", word(words::algorithms, *row.algorithm),
                                     word(words::protocols, *row.protocol))
                       : "";
  return fmt::format("{} {}{} on {} ranks, {}", word(words::transports, row.transport),
                     word(words::operations, row.kind), how, row.ranks, size_text(row.size));
}

std::string text_of(const MatrixRow& row) {
  return fmt::format("{} product {:.0f} x {:.0f} x {:.0f}", word(words::arithmetics, row.arithmetic), row.m,
                     row.n, row.k);
}

std::string text_of(const MemoryRow& row) {
  return fmt::format("{} of {}", word(words::memory_kernels, row.kernel), size_text(row.traffic));
}

std::string text_of(const OptimizerRow& row) {
  return fmt::format("{} of {:.4g} M parameters, {} tensors", word(words::optimizers, row.optimizer),
                     row.parameters / 1e6, row.tensors);
}

std::string text_of(const AttentionRow& row) {
  return fmt::format("{}{} attention {:.0f} x {:.0f} x {:.0f} x {:.0f}",
                     word(words::arithmetics, row.arithmetic), row.causal ? " causal" : "", row.batch,
                     row.heads, row.length, row.head);
}

/// Such as "p2p 4 ranks, 20 all-reduces of 256 MiB concurrent with 16 fp32 products of 4096, 8 channels".
std::string text_of(const ContentionRow& row) {
  return fmt::format("{} {} ranks, {} all-reduces of {} concurrent with {} {} products of {}{}",
                     word(words::transports, row.transport), row.ranks, row.collectives, size_text(row.size),
                     row.kernels, word(words::precisions, row.precision), row.side,
                     row.channels > 0 ? fmt::format(", {} channels", row.channels) : "");
}

void add_collectives(const Calibration& calibration, const Samples& samples,
                     std::vector<PredictedRow>& rows) {
  for (const auto& row : samples.collectives) {
    const auto table = std::ranges::find(calibration.tables, key_of(row), key_of<CollectiveTable>);
    std::optional<Seconds> predicted;
    if (table != calibration.tables.end()) predicted = time_at(*table, row.size);
    rows.push_back({group_of(row.size), text_of(row), row.time, predicted});
  }
}

void add_copies(const Calibration& calibration, const Samples& samples, std::vector<PredictedRow>& rows) {
  for (const auto& row : samples.copies) {
    const auto* link = link_of(calibration.links, row.role);
    rows.push_back({SampleGroup::copies,
                    fmt::format("{} {}", word(words::links, row.role), size_text(row.size)), row.time,
                    link == nullptr ? std::nullopt : std::optional{copy_time(*link, row.size)}});
  }
}

template <class Row>
void add_kernels(const KernelRates& rates, const std::vector<Row>& kernels, SampleGroup group,
                 std::vector<PredictedRow>& rows) {
  for (const auto& row : kernels) rows.push_back({group, text_of(row), row.time, time_of(rates, row)});
}

void add_launches(const KernelRates& rates, const Samples& samples, std::vector<PredictedRow>& rows) {
  for (std::size_t i = 0; i < launch_cost_count; ++i) {
    const auto cost = static_cast<LaunchCost>(i);
    const auto launch = std::ranges::find(rates.launches, cost, &LaunchTime::what);
    std::optional<Seconds> predicted;
    if (launch != rates.launches.end()) predicted = launch->time;
    for (const auto time : samples.launches[i])
      rows.push_back({SampleGroup::launches, std::string{word(words::launch_costs, cost)}, time, predicted});
  }
}

void add_contention(const Calibration& calibration, const Samples& samples, const NodeFacts& node,
                    std::vector<PredictedRow>& rows) {
  for (const auto& trial : contention_trials(samples.contention)) {
    const auto errors = contention_errors(trial, calibration.contention, node);
    const auto add = [&](std::string_view end, Seconds measured, double error) {
      rows.push_back({SampleGroup::contention, fmt::format("{} of {}", end, text_of(trial.together)),
                      measured, errors ? std::optional{measured * (1 + error)} : std::nullopt});
    };
    const auto& ends = trial.measured.ends;
    add("kernels", ends.kernels, errors ? errors->kernels : 0);
    add("collectives", ends.collectives, errors ? errors->collectives : 0);
  }
}

void add_timed_kernels(const Calibration& calibration, const Samples& samples,
                       std::vector<PredictedRow>& rows) {
  std::map<std::pair<std::string_view, std::vector<double>>, Seconds> known;
  if (calibration.kernel_times) {
    for (const auto& row : calibration.kernel_times->rows)
      known.emplace(std::pair{std::string_view{row.kernel}, row.size}, row.time);
  }
  for (const auto& row : samples.kernel_times) {
    const auto entry = known.find({row.kernel, row.size});
    rows.push_back({SampleGroup::timed_kernels,
                    fmt::format("{} {:.0f}", row.kernel, fmt::join(row.size, " x ")), row.time,
                    entry == known.end() ? std::nullopt : std::optional{entry->second}});
  }
}

}  // namespace

std::vector<PredictedRow> predict_samples(const Calibration& calibration, const Samples& samples,
                                          const NodeFacts& node) {
  std::vector<PredictedRow> rows;
  const auto& rates = calibration.kernels;
  add_collectives(calibration, samples, rows);
  add_copies(calibration, samples, rows);
  add_kernels(rates, samples.matrix, SampleGroup::products, rows);
  add_kernels(rates, samples.memory, SampleGroup::memory_kernels, rows);
  add_kernels(rates, samples.optimizers, SampleGroup::optimizers, rows);
  add_kernels(rates, samples.attention, SampleGroup::attention, rows);
  add_launches(rates, samples, rows);
  add_contention(calibration, samples, node, rows);
  add_timed_kernels(calibration, samples, rows);
  std::ranges::stable_sort(rows, {}, &PredictedRow::group);
  return rows;
}

std::vector<GroupError> errors_by_group(const std::vector<PredictedRow>& rows) {
  std::vector<GroupError> groups;
  for (std::size_t i = 0; i < sample_group_words::all.size(); ++i) {
    const auto group = static_cast<SampleGroup>(i);
    std::vector<double> errors;
    for (const auto& row : rows) {
      if (row.group == group && row.predicted) errors.push_back(row.error());
    }
    if (errors.empty()) continue;
    const auto count = static_cast<double>(errors.size());
    GroupError summary{group, static_cast<int>(errors.size()), 0, 0, *fit_error(errors)};
    for (const auto error : errors) {
      summary.bias += error / count;
      summary.mean += std::abs(error) / count;
    }
    groups.push_back(summary);
  }
  return groups;
}

}  // namespace gradway
