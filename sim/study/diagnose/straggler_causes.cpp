// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "sim/study/diagnose/cause.hpp"

namespace gradway {
namespace {

using StepTimes = std::vector<std::vector<double>>;  ///< by rank and step, in nanoseconds

bool is_delay(const CpuItem& item) {
  return item.kind != CpuItem::Kind::work && item.kind != CpuItem::Kind::launch &&
         item.kind != CpuItem::Kind::wait;
}

StepTimes kernel_times(const JobRun& run) {
  StepTimes times(run.ranks.size(), std::vector<double>(run.steps));
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    for (std::size_t i = 0; i < run.alone[r].size(); ++i) {
      const auto& activity = run.ranks[r].activities[i];
      if (activity.work != WorkClass::collective)
        times[r][static_cast<std::size_t>(activity.step)] += run.alone[r][i];
    }
  }
  return times;
}

StepTimes delay_times(const JobRun& run) {
  StepTimes times(run.ranks.size(), std::vector<double>(run.steps));
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    for (std::size_t s = 0; s < run.steps; ++s) {
      for (const auto& item : run.ranks[r].steps[s].items) times[r][s] += is_delay(item) ? item.time : 0;
    }
  }
  return times;
}

/// A step's mean over ranks, over the time of a rank.
StepTimes shares_of_mean(const StepTimes& times) {
  auto shares = times;
  for (std::size_t s = 0; s < times.front().size(); ++s) {
    double sum = 0;
    for (const auto& rank : times) sum += rank[s];
    const auto mean = sum / static_cast<double>(times.size());
    for (std::size_t r = 0; r < times.size(); ++r) shares[r][s] = times[r][s] > 0 ? mean / times[r][s] : 1;
  }
  return shares;
}

double mean_of(const std::vector<double>& times) {
  return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
}

/// How the slowest rank of each step compares with all ranks.
struct Spread {
  double mean = 0;             ///< of all ranks and steps
  double slowest = 0;          ///< mean over steps of their slowest rank
  double slowest_rank = 0;     ///< mean of the rank with the largest one
  std::set<int> slowest_in{};  ///< ranks that are the slowest one of a step
};

Spread spread_of(const JobRun& run, const StepTimes& times) {
  Spread spread;
  for (const auto& rank : times) {
    spread.mean += mean_of(rank) / static_cast<double>(times.size());
    spread.slowest_rank = std::max(spread.slowest_rank, mean_of(rank));
  }
  for (std::size_t s = 0; s < run.steps; ++s) {
    std::size_t slowest = 0;
    for (std::size_t r = 1; r < times.size(); ++r) {
      if (times[r][s] > times[slowest][s]) slowest = r;
    }
    spread.slowest += times[slowest][s] / static_cast<double>(run.steps);
    spread.slowest_in.insert(run.ranks[slowest].rank);
  }
  return spread;
}

/// A rank that is always the slowest one has a mean as long as the slowest of each step. Of ranks that only
/// draw their times at random, the largest mean of n steps exceeds that of all by 1 / sqrt(n) of that. The
/// middle of both decides.
bool is_random(const Spread& spread, std::size_t steps) {
  const auto excess = spread.slowest - spread.mean;
  const auto same_rank = spread.slowest_rank - spread.mean;
  return spread.slowest_in.size() > 1 &&
         same_rank < excess * (1 + 1 / std::sqrt(static_cast<double>(steps))) / 2;
}

}  // namespace

void find_stragglers(const JobRun& run, std::vector<Candidate>& candidates) {
  if (run.ranks.size() < 2 || run.steps < 2 || run.collectives.empty()) return;
  const auto kernels = kernel_times(run);
  const auto delays = delay_times(run);
  auto sums = kernels;
  for (std::size_t r = 0; r < sums.size(); ++r) {
    for (std::size_t s = 0; s < run.steps; ++s) sums[r][s] += delays[r][s];
  }
  const auto spread = spread_of(run, sums);
  if (!is_random(spread, run.steps)) return;
  RunCause cause{.kind = CauseKind::random_stragglers};
  if (spread.slowest_in.size() < run.ranks.size())
    cause.ranks.assign(spread.slowest_in.begin(), spread.slowest_in.end());
  cause.measured = from_nanoseconds(spread.slowest);
  cause.expected = from_nanoseconds(spread.mean);
  // Without it, all ranks of a step take their mean time.
  candidates.push_back({cause, [&run, of_kernels = shares_of_mean(kernels),
                                of_delays = shares_of_mean(delays)](RunTimes& times) {
                          for (std::size_t r = 0; r < run.ranks.size(); ++r) {
                            for (std::size_t i = 0; i < times.gpu[r].size(); ++i) {
                              const auto& activity = run.ranks[r].activities[i];
                              if (activity.work != WorkClass::collective)
                                times.gpu[r][i] *= of_kernels[r][static_cast<std::size_t>(activity.step)];
                            }
                            for (std::size_t s = 0; s < run.steps; ++s) {
                              const auto& items = run.ranks[r].steps[s].items;
                              for (std::size_t i = 0; i < items.size(); ++i) {
                                if (is_delay(items[i])) times.cpu[r][s][i] *= of_delays[r][s];
                              }
                            }
                          }
                        }});
}

}  // namespace gradway
