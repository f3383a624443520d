// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "observe/diagnose/cause.hpp"

namespace gradway {
namespace {

// Smaller ones are mostly latency, which kernels of other streams lengthen.
constexpr double smallest_bytes = 1 << 20;
// The fastest of a job's large collectives, over its predicted time alone: 1.2 and 1.3 on two H100 over
// NVLink. Those that compete with kernels take up to 5 times as long. Predictions err by 13 % on average
// (docs/ACCURACY.md, collectives).
constexpr double slower_alone = 1.5;

struct Compared {
  const JobCollective* collective = nullptr;
  double expected = 0;
  double ratio() const { return collective->transfer / expected; }
};

/// The way whose time is nearest to that of the fastest collective. NCCL has a number of channels of its own
/// for each transport: fewer channels than expected that are none of these were set.
std::optional<SlowWay> nearest_way(const Compared& fastest, bool has_few_channels,
                                   CollectiveExpectations& expectations) {
  const auto& collective = *fastest.collective;
  const auto is_usual = [&](SlowWay way) {
    return expectations.channels(collective.ranks, way) == collective.channels;
  };
  const auto with_few = expectations.time(collective, SlowWay::few_channels);
  constexpr double nearly = 2;  // Kernels make even the fastest collective somewhat slower.
  if (has_few_channels && !is_usual(SlowWay::shm) && !is_usual(SlowWay::net) && with_few &&
      collective.transfer < nearly * *with_few)
    return SlowWay::few_channels;
  std::optional<SlowWay> nearest;
  double least = std::numeric_limits<double>::max();
  for (int place = 0; place < slow_ways; ++place) {
    const auto way = static_cast<SlowWay>(place);
    const bool is_other_choice = way == SlowWay::low_latency || way == SlowWay::tree;
    if (has_few_channels ? is_other_choice : way == SlowWay::few_channels) continue;
    const auto time = expectations.time(collective, way);
    if (!time) continue;
    const auto distance = std::abs(std::log(collective.transfer / *time));
    if (distance >= least) continue;
    least = distance;
    nearest = way;
  }
  if (nearest != SlowWay::shm && nearest != SlowWay::net) return nearest;
  // NET is predicted over the node's NICs. Sockets are much slower than that, and than host memory, which two
  // H100 shared with kernels at half of its predicted rate.
  constexpr double slower_than_shm = 4;
  const auto shm = expectations.time(collective, SlowWay::shm);
  return shm && collective.transfer > slower_than_shm * *shm ? SlowWay::net : SlowWay::shm;
}

CauseKind kind_of(const std::optional<SlowWay>& way) {
  if (!way) return CauseKind::slow_collectives;
  if (*way == SlowWay::few_channels) return CauseKind::few_channels;
  return *way == SlowWay::shm || *way == SlowWay::net ? CauseKind::slow_transport : CauseKind::forced_choice;
}

}  // namespace

void find_collective_causes(const JobRun& run, CollectiveExpectations& expectations,
                            std::vector<Candidate>& candidates) {
  std::vector<Compared> compared;
  std::vector<double> expected(run.collectives.size(), std::numeric_limits<double>::max());
  for (std::size_t i = 0; i < run.collectives.size(); ++i) {
    const auto time = expectations.time(run.collectives[i]);
    if (!time) continue;
    expected[i] = *time;
    if (run.collectives[i].bytes >= smallest_bytes) compared.push_back({&run.collectives[i], *time});
  }
  if (compared.empty()) return;
  const auto fastest = *std::ranges::min_element(compared, {}, &Compared::ratio);
  const auto& example = *fastest.collective;
  const auto remove = [&expected](double more) {
    return [expected, more](RunTimes& times) {
      for (std::size_t i = 0; i < expected.size(); ++i)
        times.transfer[i] = std::min(times.transfer[i], expected[i]);
      for (auto& slow_down : times.slow_down) slow_down *= more;
    };
  };
  RunCause cause;
  cause.events = static_cast<double>(compared.size()) / static_cast<double>(run.steps);
  cause.measured = from_nanoseconds(example.transfer);
  cause.expected = from_nanoseconds(fastest.expected);
  cause.example = name_of(example.kind);
  cause.bytes = example.bytes;
  cause.found_channels = example.channels;
  cause.expected_channels = expectations.channels(example.ranks);
  cause.expected_transport = expectations.transport(example.ranks);
  cause.stream = run.activity(example.members.front()).stream;
  // While ranks are absent, a collective may only seem slow: it waits for them. Few channels are evidence.
  const bool has_few_channels = 2 * cause.found_channels <= cause.expected_channels;
  if (fastest.ratio() < slower_alone || (!example.is_complete && !has_few_channels)) {
    if (example.is_complete) return;
    cause.kind = CauseKind::absent_ranks;
    cause.confidence = Confidence::low;
    candidates.push_back({cause, remove(1)});
    return;
  }
  cause.way = nearest_way(fastest, has_few_channels, expectations);
  cause.kind = kind_of(cause.way);
  cause.confidence = example.is_complete ? Confidence::high : Confidence::medium;
  if (cause.kind == CauseKind::slow_collectives || cause.kind == CauseKind::forced_choice)
    cause.confidence = Confidence::medium;
  if (cause.kind != CauseKind::few_channels) {
    candidates.push_back({cause, remove(1)});
    return;
  }
  // With all channels, kernels lengthen collectives as they do now, and those slow kernels down more.
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& collective = run.collectives[i];
    if (const auto with_few = expectations.time(collective, SlowWay::few_channels))
      expected[i] *= std::max(1.0, collective.transfer / *with_few);
  }
  candidates.push_back({cause, remove(expectations.kernel_slow_down(cause.expected_channels) /
                                      expectations.kernel_slow_down(cause.found_channels))});
}

namespace {

/// By step: the all-reduces of gradients.
using StepBuckets = std::vector<std::vector<std::size_t>>;

/// Buckets that are smaller on average than default ones, which overshoot their cap (all but the last),
/// are joined up to the default size: only the last of a group is reduced, in the time of the whole group's
/// bytes at the rate that the largest bucket reaches.
void find_small_buckets(const JobRun& run, const StepBuckets& buckets, CollectiveExpectations& expectations,
                        std::vector<Candidate>& candidates) {
  constexpr double small = 0.75;
  std::vector<std::pair<std::size_t, double>> changed;
  RunCause cause{.kind = CauseKind::small_buckets};
  double bytes = 0;
  for (const auto& of_step : buckets) {
    double sum = 0;
    for (const auto index : of_step) sum += run.collectives[index].bytes;
    if (of_step.size() < 2 || sum > small * default_bucket * static_cast<double>(of_step.size())) continue;
    bytes += sum;
    cause.events += static_cast<double>(of_step.size());
    double group = 0;
    for (std::size_t i = 0; i < of_step.size(); ++i) {
      auto joined = run.collectives[of_step[i]];
      group += joined.bytes;
      if (group < default_bucket && i + 1 < of_step.size()) {
        changed.emplace_back(of_step[i], 0);
        continue;
      }
      const auto alone = expectations.time(joined);
      joined.bytes = group;
      const auto together = expectations.time(joined);
      if (!alone || !together) return;
      changed.emplace_back(of_step[i], *together / *alone);
      group = 0;
    }
  }
  if (changed.empty()) return;
  cause.events /= static_cast<double>(run.steps);
  cause.bytes = bytes / static_cast<double>(run.steps) / cause.events;
  candidates.push_back({cause, [changed](RunTimes& times) {
                          for (const auto& [index, factor] : changed) times.transfer[index] *= factor;
                        }});
}

/// One or two buckets for all gradients begin when the backward pass is nearly over. With buckets of the
/// default size, all but the last would run during it.
void find_large_buckets(const JobRun& run, const StepBuckets& buckets, std::vector<Candidate>& candidates) {
  std::vector<std::pair<std::size_t, double>> changed;
  RunCause cause{.kind = CauseKind::large_buckets};
  for (std::size_t step = 0; step < buckets.size(); ++step) {
    const auto& of_step = buckets[step];
    double sum = 0;
    for (const auto index : of_step) sum += run.collectives[index].bytes;
    if (of_step.empty() || of_step.size() > 2 ||
        sum < 4 * default_bucket * static_cast<double>(of_step.size()))
      continue;
    double backward = 0;
    for (std::size_t i = 0; i < run.ranks.front().activities.size(); ++i) {
      const auto& activity = run.ranks.front().activities[i];
      if (activity.step == static_cast<int>(step) && activity.phase == ProfiledPhase::backward &&
          activity.work != WorkClass::collective)
        backward += run.alone.front()[i];
    }
    for (const auto index : of_step) {
      const auto& bucket = run.collectives[index];
      const auto last = bucket.transfer * std::min(1.0, default_bucket / bucket.bytes);
      changed.emplace_back(index, std::max(last, bucket.transfer - backward));
      cause.bytes = bucket.bytes;
    }
    cause.events += static_cast<double>(of_step.size()) / static_cast<double>(run.steps);
  }
  if (changed.empty()) return;
  candidates.push_back({cause, [changed](RunTimes& times) {
                          for (const auto& [index, time] : changed)
                            times.transfer[index] = std::min(times.transfer[index], time);
                        }});
}

}  // namespace

void find_bucket_causes(const JobRun& run, CollectiveExpectations& expectations,
                        std::vector<Candidate>& candidates) {
  StepBuckets buckets;
  for (std::size_t step = 0; step < run.steps; ++step) {
    buckets.push_back(gradient_reductions(run, step));
    std::erase_if(buckets.back(), [&](auto index) {
      return run.collectives[index].kind != CollectiveKind::all_reduce || run.collectives[index].bytes <= 0;
    });
  }
  find_small_buckets(run, buckets, expectations, candidates);
  find_large_buckets(run, buckets, candidates);
}

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
