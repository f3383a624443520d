// SPDX-License-Identifier: Apache-2.0
#include "sim/study/diagnose/overlap_with_collectives.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "sim/base/quantiles.hpp"

namespace gradway {
namespace {

/// Nanoseconds of each activity during which a collective ran on the same GPU, waiting ones included.
std::vector<double> overlaps(const RankRun& rank) {
  std::vector<std::pair<std::int64_t, std::int64_t>> busy;
  for (const auto& activity : rank.activities) {
    if (activity.work == WorkClass::collective) busy.emplace_back(activity.start, activity.end());
  }
  std::ranges::sort(busy);
  std::vector<std::pair<std::int64_t, std::int64_t>> merged;
  for (const auto& span : busy) {
    if (merged.empty() || span.first > merged.back().second) {
      merged.push_back(span);
    } else {
      merged.back().second = std::max(merged.back().second, span.second);
    }
  }
  std::vector<double> result;
  for (const auto& activity : rank.activities) {
    std::int64_t sum = 0;
    if (activity.work != WorkClass::collective) {
      auto span = std::ranges::lower_bound(merged, activity.start, {},
                                           &std::pair<std::int64_t, std::int64_t>::second);
      for (; span != merged.end() && span->first < activity.end(); ++span)
        sum += std::max<std::int64_t>(
            0, std::min(activity.end(), span->second) - std::max(activity.start, span->first));
    }
    result.push_back(static_cast<double>(sum));
  }
  return result;
}

/// Kernels of a name, grid and block on a rank.
struct Alike {
  std::vector<double> free;                          ///< durations without a collective
  std::vector<std::pair<double, WorkClass>> during;  ///< durations entirely during collectives
};

}  // namespace

void separate_contention(JobRun& run) {
  constexpr double hardly = 0.02;
  constexpr double nearly = 0.98;
  constexpr double shortest = 5'000;  // Shorter kernels are mostly latency.
  std::vector<std::vector<double>> overlap;
  std::map<std::pair<std::size_t, std::uint32_t>, Alike> kernels;
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    overlap.push_back(overlaps(run.ranks[r]));
    for (std::size_t i = 0; i < overlap[r].size(); ++i) {
      const auto& activity = run.ranks[r].activities[i];
      const auto duration = static_cast<double>(activity.duration);
      auto& alike = kernels[{r, activity.kernel}];
      if (overlap[r][i] <= hardly * duration) alike.free.push_back(duration);
      if (overlap[r][i] >= nearly * duration && duration > shortest)
        alike.during.emplace_back(duration, activity.work);
    }
  }
  std::array<double, work_classes> during{};
  std::array<double, work_classes> free{};
  for (const auto& [key, alike] : kernels) {
    if (alike.free.empty()) continue;
    const auto usual = lower_median(alike.free);
    for (const auto& [duration, work] : alike.during) {
      during[static_cast<std::size_t>(work)] += duration;
      free[static_cast<std::size_t>(work)] += usual;
    }
  }
  for (std::size_t work = 0; work < work_classes; ++work)
    run.slow_down[work] = free[work] > 0 ? std::max(1.0, during[work] / free[work]) : 1;
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    auto& alone = run.alone.emplace_back();
    for (std::size_t i = 0; i < overlap[r].size(); ++i) {
      const auto& activity = run.ranks[r].activities[i];
      const auto factor = run.slow_down[static_cast<std::size_t>(activity.work)];
      alone.push_back(static_cast<double>(activity.duration) - overlap[r][i] * (1 - 1 / factor) +
                      activity.interruption);
    }
  }
}

}  // namespace gradway
