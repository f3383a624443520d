// SPDX-License-Identifier: Apache-2.0
#include "sim/fit/contention.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "sim/cost/nccl_model.hpp"
#include "sim/cost/side_by_side.hpp"

namespace gradway {
namespace {

constexpr double step = 0.01;
constexpr double most_kernel_slowdown = 2.5;
constexpr double most_collective_slowdown = 4;
// Makes the smaller of two that fit alike win, far below what a measurement can tell apart.
constexpr double favour_small = 1e-3;

struct Fitted {
  double kernel = 1;
  double collective = 1;
  double kernel_error = 0;  ///< fitted over measured end, less one
  double collective_error = 0;
  double misfit = 0;
};

Fitted try_pair(const ContentionRow& alone, const ContentionRow& together, double taken, double kernel,
                double collective, bool held) {
  const auto ends =
      side_by_side_ends({alone.kernel_time, together.kernels, alone.collective_time, together.collectives},
                        kernel * taken, collective, held);
  Fitted fitted{kernel, collective, ends.kernels / (together.kernel_time * together.kernels) - 1,
                ends.collectives / (together.collective_time * together.collectives) - 1, 0};
  fitted.misfit = std::abs(fitted.kernel_error) + std::abs(fitted.collective_error) +
                  favour_small * (kernel - 1 + (collective - 1) / 10);
  return fitted;
}

Fitted best_pair(const ContentionRow& alone, const ContentionRow& together, double taken, bool held) {
  auto best = try_pair(alone, together, taken, 1, 1, held);
  for (int c = 0; 1 + c * step <= most_collective_slowdown; ++c) {
    for (int k = 0; 1 + k * step <= most_kernel_slowdown; ++k) {
      const auto fitted = try_pair(alone, together, taken, 1 + k * step, 1 + c * step, held);
      if (fitted.misfit < best.misfit) best = fitted;
    }
  }
  return best;
}

SideBySide fit_pair(const ContentionRow& alone, const ContentionRow& together, const NodeFacts& node) {
  const auto known = node.channels.find({together.transport, together.ranks});
  const int channels = node.multiprocessors > 0 && known != node.channels.end() ? known->second : 0;
  const Footprint large{KernelClass::matrix, together.precision, 0, 0};  // a product of many waves
  const auto best =
      best_pair(alone, together, wave_slowdown(large, node.multiprocessors, channels), channels > 0);
  return {.transport = together.transport,
          .precision = together.precision,
          .ranks = together.ranks,
          .channels = channels,
          .kernel_slowdown = best.kernel,
          .collective_slowdown = best.collective,
          .measured_on = "",
          .source = fmt::format(
              "{} all-reduces of {:.0f} MB beside {} products of {}: kernels met within {:.1f} %, "
              "collectives within {:.1f} %",
              together.collectives, together.size.value() / 1e6, together.kernels, together.side,
              100 * std::abs(best.kernel_error), 100 * std::abs(best.collective_error))};
}

auto key(const ContentionRow& row) {
  return std::tuple{row.transport, row.ranks, row.precision, row.side, row.size};
}

}  // namespace

SideBySideEnds side_by_side_ends(const SideBySideTrial& trial, double kernel_slowdown,
                                 double collective_slowdown, bool held) {
  SideBySideEnds ends;
  auto kernels = trial.kernels;
  auto collectives = trial.collectives;
  auto kernel_left = trial.kernel;
  auto collective_left = trial.collective;
  bool waits = false;
  Seconds now{};
  while (kernels > 0 && collectives > 0) {
    const auto kernel_needs = kernel_left * (waits ? 1 : kernel_slowdown);
    const auto collective_needs = waits ? Seconds::infinite() : collective_left * collective_slowdown;
    if (collective_needs < kernel_needs) {
      now += collective_needs;
      kernel_left -= collective_needs / kernel_slowdown;
      collective_left = trial.collective;
      ends.collectives = now;
      --collectives;
      waits = held;
      continue;
    }
    now += kernel_needs;
    if (!waits) collective_left -= kernel_needs / collective_slowdown;
    kernel_left = trial.kernel;
    ends.kernels = now;
    --kernels;
    waits = false;
  }
  if (kernels > 0) ends.kernels = now + kernel_left + trial.kernel * (kernels - 1);
  if (collectives > 0) ends.collectives = now + collective_left + trial.collective * (collectives - 1);
  return ends;
}

std::vector<SideBySide> fit_contention(const std::vector<ContentionRow>& rows, const NodeFacts& node) {
  std::vector<SideBySide> fitted;
  for (const auto& together : rows) {
    if (!together.together) continue;
    const auto alone = std::ranges::find_if(
        rows, [&](const ContentionRow& row) { return !row.together && key(row) == key(together); });
    if (alone != rows.end()) fitted.push_back(fit_pair(*alone, together, node));
  }
  std::ranges::stable_sort(fitted, {}, [](const SideBySide& row) {
    return std::tuple{row.transport, row.ranks, row.precision};
  });
  return fitted;
}

}  // namespace gradway
