// SPDX-License-Identifier: Apache-2.0
#include "readers/fit/kernels.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>
#include <set>
#include <tuple>

#include "readers/fit/monotone.hpp"
#include "readers/fit/robust_line.hpp"
#include "readers/topology/gpu_name.hpp"
#include "sim/base/problem.hpp"
#include "sim/base/quantiles.hpp"

namespace gradway {

namespace {

constexpr Flops large_work{100e9};
constexpr Flops medium_work{10e9};
constexpr double thick_side = 256;
constexpr Bytes tiny = 1_MiB;  // Well below a microsecond of memory time on current GPUs.

/// Rows grouped by a key.
template <class Row, class Key>
auto grouped(const std::vector<Row>& rows, const Key& key) {
  std::map<decltype(key(rows.front())), std::vector<Row>> groups;
  for (const auto& row : rows) groups[key(row)].push_back(row);
  return groups;
}

/// Merges the rows of one amount at their quiet quantile.
template <class Row, class Amount>
std::vector<AmountTime> merged(const std::vector<Row>& rows, const Amount& amount) {
  std::vector<SizedTime> sized;
  for (const auto& row : rows) sized.push_back({Bytes{amount(row).value()}, row.time});
  std::vector<AmountTime> points;
  for (const auto& [size, time] : merged_by_size(std::move(sized)))
    points.push_back({size.value(), time.value()});
  return points;
}

template <class Row>
Fitted fitted(const KernelRates& rates, const std::vector<Row>& rows) {
  std::vector<double> errors;
  for (const auto& row : rows) errors.push_back(*time_of(rates, row) / row.time - 1);
  return {static_cast<int>(rows.size()), fit_error(std::move(errors))};
}

std::optional<double> of_peak(FlopsPerSecond rate, Arithmetic arithmetic, const NodeFacts& node) {
  const auto which = static_cast<std::size_t>(arithmetic);
  if (which >= node.peak.size() || !node.peak[which]) return std::nullopt;
  return rate / *node.peak[which];
}

void fit_matrix(const Samples& samples, const NodeFacts& node, KernelRates& rates) {
  const auto key = [](const MatrixRow& row) { return std::pair{row.arithmetic, shape_of(row)}; };
  for (const auto& [what, rows] : grouped(samples.matrix, key)) {
    std::vector<double> reached;
    for (const auto& row : rows) reached.push_back((row.work() / row.time).value());
    const FlopsPerSecond rate{lower_median(reached)};
    rates.matrix.push_back({what.first, what.second, rate, of_peak(rate, what.first, node), {}});
    rates.matrix.back().fitted = fitted(rates, rows);
  }
}

void fit_memory(const Samples& samples, const NodeFacts& node, KernelRates& rates) {
  for (const auto& [kernel, rows] :
       grouped(samples.memory, [](const MemoryRow& row) { return row.kernel; })) {
    const auto line =
        robust_line(merged(rows, [](const MemoryRow& row) { return row.traffic; }), LineForm::sum);
    const BytesPerSecond bandwidth{1 / line.slope};
    rates.memory.push_back({kernel, Seconds{line.base}, bandwidth, {}, {}});
    if (node.memory_bandwidth) rates.memory.back().of_peak = bandwidth / *node.memory_bandwidth;
    rates.memory.back().fitted = fitted(rates, rows);
  }
}

void fit_optimizers(const Samples& samples, KernelRates& rates) {
  const auto key = [](const OptimizerRow& row) { return std::pair{row.optimizer, row.tensors}; };
  for (const auto& [what, rows] : grouped(samples.optimizers, key)) {
    const auto line =
        robust_line(merged(rows, [](const OptimizerRow& row) { return row.traffic(); }), LineForm::larger);
    rates.optimizers.push_back(
        {what.first, what.second, Seconds{line.base}, BytesPerSecond{1 / line.slope}, {}});
    rates.optimizers.back().fitted = fitted(rates, rows);
  }
}

void fit_attention(const Samples& samples, const NodeFacts& node, KernelRates& rates) {
  const auto key = [](const AttentionRow& row) { return std::pair{row.arithmetic, row.causal}; };
  for (const auto& [what, rows] : grouped(samples.attention, key)) {
    const auto line =
        robust_line(merged(rows, [](const AttentionRow& row) { return row.work(); }), LineForm::sum);
    const FlopsPerSecond rate{1 / line.slope};
    rates.attention.push_back(
        {what.first, what.second, Seconds{line.base}, rate, of_peak(rate, what.first, node), {}});
    rates.attention.back().fitted = fitted(rates, rows);
  }
}

void fit_launches(const Samples& samples, KernelRates& rates) {
  for (std::size_t cost = 0; cost < launch_cost_count; ++cost) {
    const auto& times = samples.launches[cost];
    if (times.empty()) continue;
    const auto time = lower_median(times);
    std::vector<double> errors;
    for (const auto measured : times) errors.push_back(time / measured - 1);
    rates.launches.push_back({static_cast<LaunchCost>(cost),
                              time,
                              {static_cast<int>(times.size()), fit_error(std::move(errors))}});
  }
  std::vector<Seconds> shortest;
  for (const auto& row : samples.memory) {
    if (row.traffic <= tiny) shortest.push_back(row.time);
  }
  if (!shortest.empty()) rates.smallest_kernel = lower_median(shortest);
}

/// File name of the GPU on which the kernels ran.
std::string timed_gpu(const Samples& samples, const NodeFacts& node) {
  std::set<std::string> names;
  for (const auto& row : samples.nodes) {
    for (const auto& gpu : row.gpus) names.insert(gpu_file_name(gpu.name));
  }
  if (names.size() > 1) {
    refuse(
        fmt::format("the samples contain times of kernels on several GPU models: {}", fmt::join(names, ", ")),
        "make one calibration per GPU model");
  }
  if (!names.empty()) return *names.begin();
  if (node.gpu.empty()) {
    refuse("the samples contain times of kernels, but no row of kind node names the GPU",
           "name a platform with this GPU: --platform NAME");
  }
  return node.gpu;
}

/// Four digits, without an exponent.
std::string microseconds(Seconds time) {
  constexpr int digits = 4;
  const auto value = time.value() * 1e6;
  const auto before_point = 1 + static_cast<int>(std::floor(std::log10(value)));
  const auto after_point = digits - before_point;
  if (after_point >= 0) return fmt::format("{:.{}f}", value, after_point);
  const auto unit = std::pow(10.0, -after_point);
  return fmt::format("{:.0f}", std::round(value / unit) * unit);
}

std::string size_text(const std::vector<double>& size) {
  return fmt::format("{:.0f}", fmt::join(size, "x"));
}

/// Width of the longest size.
std::size_t size_width(std::span<const KernelTime> rows) {
  std::size_t width = 0;
  for (const auto& row : rows) width = std::max(width, size_text(row.size).size());
  return width;
}

}  // namespace

ProductShape shape_of(const MatrixRow& product) {
  if (std::min({product.m, product.n, product.k}) < thick_side) return ProductShape::skinny;
  if (product.work() >= large_work) return ProductShape::large;
  return product.work() >= medium_work ? ProductShape::medium : ProductShape::small;
}

KernelRates fit_kernels(const Samples& samples, const NodeFacts& node) {
  KernelRates rates;
  fit_matrix(samples, node, rates);
  fit_memory(samples, node, rates);
  fit_optimizers(samples, rates);
  fit_attention(samples, node, rates);
  fit_launches(samples, rates);
  return rates;
}

std::optional<Seconds> time_of(const KernelRates& rates, const MatrixRow& row) {
  for (const auto& rate : rates.matrix) {
    if (rate.arithmetic == row.arithmetic && rate.shape == shape_of(row)) return row.work() / rate.rate;
  }
  return std::nullopt;
}

std::optional<Seconds> time_of(const KernelRates& rates, const MemoryRow& row) {
  const auto rate = std::ranges::find(rates.memory, row.kernel, &MemoryRate::kernel);
  if (rate == rates.memory.end()) return std::nullopt;
  return rate->latency + row.traffic / rate->bandwidth;
}

std::optional<Seconds> time_of(const KernelRates& rates, const OptimizerRow& row) {
  for (const auto& rate : rates.optimizers) {
    if (rate.optimizer == row.optimizer && rate.tensors == row.tensors)
      return std::max(rate.floor, row.traffic() / rate.bandwidth);
  }
  return std::nullopt;
}

std::optional<Seconds> time_of(const KernelRates& rates, const AttentionRow& row) {
  for (const auto& rate : rates.attention) {
    if (rate.arithmetic == row.arithmetic && rate.causal == row.causal)
      return rate.latency + row.work() / rate.rate;
  }
  return std::nullopt;
}

std::optional<KernelTimes> fit_kernel_times(const Samples& samples, const NodeFacts& node,
                                            const std::string& source) {
  if (samples.kernel_times.empty()) return std::nullopt;
  KernelTimes times{timed_gpu(samples, node), source, {}};
  auto sorted = samples.kernel_times;
  std::ranges::stable_sort(sorted, is_listed_before);
  for (auto first = sorted.begin(); first != sorted.end();) {
    const auto end =
        std::find_if(first, sorted.end(), [&](const auto& row) { return is_listed_before(*first, row); });
    std::vector<double> same;
    std::transform(first, end, std::back_inserter(same), [](const auto& row) { return row.time.value(); });
    times.rows.push_back({first->kernel, first->size, Seconds{lower_quantile(same, 0.5)}});
    first = end;
  }
  return times;
}

void write_kernel_times(std::ostream& out, const KernelTimes& times) {
  fmt::print(out, "kernel_times:\n  gpu: {}\n  rows: |\n", times.gpu);
  for (auto first = times.rows.begin(); first != times.rows.end();) {
    const auto end =
        std::find_if(first, times.rows.end(), [&](const auto& row) { return row.kernel != first->kernel; });
    const auto width = size_width({first, end});
    for (; first != end; ++first) {
      fmt::print(out, "    {} {:<{}} {}\n", first->kernel, size_text(first->size), width,
                 microseconds(first->time));
    }
  }
}

}  // namespace gradway
