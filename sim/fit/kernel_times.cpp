// SPDX-License-Identifier: Apache-2.0
#include "sim/fit/kernel_times.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <set>

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include "sim/base/problem.hpp"
#include "sim/base/quantiles.hpp"
#include "sim/fit/monotone.hpp"
#include "sim/import/topology/gpu_name.hpp"

namespace gradway {
namespace {

[[noreturn]] void refuse(std::string what, std::string hint) {
  throw ConfigError{Problem{{}, std::move(what), {}, std::move(hint)}};
}

/// File name of the GPU that the kernels ran on.
std::string timed_gpu(const Samples& samples, const NodeFacts& node) {
  std::set<std::string> names;
  for (const auto& row : samples.nodes) {
    for (const auto& gpu : row.gpus) names.insert(gpu_file_name(gpu.name));
  }
  if (names.size() > 1) {
    refuse(fmt::format("the samples have times of kernels, and are of several GPU models: {}",
                       fmt::join(names, ", ")),
           "make a calibration of each");
  }
  if (!names.empty()) return *names.begin();
  if (node.gpu.empty()) {
    refuse("the samples have times of kernels, but no row of kind node says on which GPU",
           "name a platform with this GPU: --platform NAME");
  }
  return node.gpu;
}

/// Four digits, without an exponent.
std::string microseconds(Seconds time) {
  constexpr int digits = 4;
  const auto value = time.value() * 1e6;
  const auto before_point = 1 + static_cast<int>(std::floor(std::log10(value)));
  const auto behind_point = digits - before_point;
  if (behind_point >= 0) return fmt::format("{:.{}f}", value, behind_point);
  const auto unit = std::pow(10.0, -behind_point);
  return fmt::format("{:.0f}", std::round(value / unit) * unit);
}

std::string size_text(const std::vector<double>& size) {
  return fmt::format("{:.0f}", fmt::join(size, "x"));
}

/// Columns of the longest size.
std::size_t size_width(std::span<const KernelTime> rows) {
  std::size_t width = 0;
  for (const auto& row : rows) width = std::max(width, size_text(row.size).size());
  return width;
}

}  // namespace

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
