// SPDX-License-Identifier: Apache-2.0
#include "readers/fit/contention_experiment.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sim/base/contract.hpp"

namespace gradway {
namespace {

constexpr double step = 0.01;
// Breaks ties in favour of smaller slow-downs; far below measurement accuracy.
constexpr double favour_small = 1e-3;

/// Mean error of both ends; stops when it exceeds `most`.
double misfit(const std::vector<MeasuredTrial>& trials, const Slowdowns& slowdowns,
              const SlowdownSearch& search, double most) {
  const auto count = static_cast<double>(trials.size());
  const auto penalty = favour_small * (slowdowns.kernel - 1 + (slowdowns.collective - 1) / 10);
  double sum = 0;
  for (const auto& trial : trials) {
    const auto errors = end_errors(trial, slowdowns, search);
    sum += std::abs(errors.kernels) + std::abs(errors.collectives);
    if (sum / count + penalty > most) break;
  }
  return sum / count + penalty;
}

}  // namespace

ContentionEnds contention_ends(const ContentionExperiment& trial, double kernel_slowdown,
                               double collective_slowdown, bool is_serialized) {
  ContentionEnds ends;
  auto kernels = trial.kernels;
  auto collectives = trial.collectives;
  auto kernel_left = trial.kernel;
  auto collective_left = trial.collective;
  bool waits = false;
  Seconds elapsed{};
  while (kernels > 0 && collectives > 0) {
    const auto kernel_needs = kernel_left * (waits ? 1 : kernel_slowdown);
    const auto collective_needs = waits ? Seconds::infinite() : collective_left * collective_slowdown;
    if (collective_needs < kernel_needs) {
      elapsed += collective_needs;
      kernel_left -= collective_needs / kernel_slowdown;
      collective_left = trial.collective;
      ends.collectives = elapsed;
      --collectives;
      waits = is_serialized;
      continue;
    }
    elapsed += kernel_needs;
    if (!waits) collective_left -= kernel_needs / collective_slowdown;
    kernel_left = trial.kernel;
    ends.kernels = elapsed;
    --kernels;
    waits = false;
  }
  if (kernels > 0) ends.kernels = elapsed + kernel_left + trial.kernel * (kernels - 1);
  if (collectives > 0) ends.collectives = elapsed + collective_left + trial.collective * (collectives - 1);
  return ends;
}

EndErrors end_errors(const MeasuredTrial& measured, const Slowdowns& slowdowns,
                     const SlowdownSearch& search) {
  const auto ends = contention_ends(measured.trial, slowdowns.kernel * search.known_slowdown,
                                    slowdowns.collective, search.is_serialized);
  return {ends.kernels / measured.ends.kernels - 1, ends.collectives / measured.ends.collectives - 1};
}

Slowdowns find_slowdowns(const std::vector<MeasuredTrial>& trials, const SlowdownSearch& search) {
  expects(!trials.empty(), "an experiment to find slow-downs from");
  auto short_first = trials;  // Short experiments rule out most slow-downs at little cost.
  std::ranges::stable_sort(short_first, {}, [](const MeasuredTrial& measured) {
    return std::int64_t{measured.trial.kernels} + measured.trial.collectives;
  });
  Slowdowns best;
  const auto look = [&](int stride, double least) {
    for (int c = 0; 1 + c * step <= search.most_collective; c += stride) {
      for (int k = 0; 1 + k * step <= search.most_kernel; k += stride) {
        const Slowdowns slowdowns{1 + k * step, 1 + c * step};
        const auto error = misfit(short_first, slowdowns, search, least);
        if (error >= least) continue;
        least = error;
        best = slowdowns;
      }
    }
    return least;
  };
  constexpr auto infinity = std::numeric_limits<double>::infinity();
  constexpr int coarse = 10;  // Provides a good bound for the fine search.
  look(1, std::nextafter(look(coarse, infinity), infinity));
  return best;
}

}  // namespace gradway
