// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "observe/diagnose/job_run.hpp"
#include "observe/diagnose/overlap_with_collectives.hpp"
#include "readers/kineto/read/merged_spans.hpp"
#include "sim/base/quantiles.hpp"
#include "sim/cost/framework_cost.hpp"

namespace gradway {
namespace {

/// CPU work of a step before each of its launches.
struct StepWork {
  std::vector<std::uint32_t> operations;
  std::vector<double> time;
  double total = 0;
};

StepWork work_of(const RankRun& rank, const RunStep& step) {
  StepWork work;
  double time = 0;
  for (const auto& item : step.items) {
    if (item.kind == CpuItem::Kind::work) time += item.time;
    if (item.kind != CpuItem::Kind::launch) continue;
    work.operations.push_back(rank.activities[static_cast<std::size_t>(item.activity)].operation);
    work.time.push_back(time);
    time = 0;
  }
  work.total = std::accumulate(work.time.begin(), work.time.end(), 0.0);
  return work;
}

/// Worker processes make their batches at a pace that the profiler does not change. Where the program waits
/// for them, what its own work takes less without the profiler, it waits longer.
void lengthen_waits_for_workers(const JobRun& run, std::size_t rank,
                                std::vector<std::vector<double>>& times) {
  constexpr double fetching = 5e6;  // A shorter wait may be for a batch that is there.
  std::vector<double*> waits;
  double waited = 0;
  double saved = 0;
  for (std::size_t s = 0; s < times.size(); ++s) {
    saved += run.cpu_work[rank][s];
    const auto& items = run.ranks[rank].steps[s].items;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].kind == CpuItem::Kind::work) saved -= times[s][i];
      if (!items[i].awaits_workers || times[s][i] < fetching) continue;
      waits.push_back(&times[s][i]);
      waited += times[s][i];
    }
  }
  for (auto* wait : waits) *wait *= 1 + std::max(0.0, saved) / waited;
}

}  // namespace

double usual_launch() {
  return eager_operation.value() * 1e9 / kernels_of_operation / profiled_cpu_share;
}

double launch_time(const JobRun& run, std::size_t rank) {
  const auto launches =
      static_cast<double>(run.ranks[rank].activities.size()) / static_cast<double>(run.steps);
  return *std::ranges::min_element(run.cpu_work[rank]) / std::max(1.0, launches);
}

bool has_slow_cpu(const JobRun& run, std::size_t rank) {
  constexpr double range = 2;
  // The usual time is one under PyTorch's profiler.
  return run.ranks[rank].profiler == Profiler::pytorch && launch_time(run, rank) > range * usual_launch();
}

RunTimes measured_times(const JobRun& run, double cpu_share) {
  std::vector<std::vector<StepWork>> works;
  std::map<std::pair<int, std::vector<std::uint32_t>>, const StepWork*> fastest;
  std::map<std::vector<std::uint32_t>, std::vector<double>> heads;
  const auto pool = [&](std::size_t r) { return has_slow_cpu(run, r) ? static_cast<int>(r) : -1; };
  works.reserve(run.ranks.size());
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    const auto& rank = run.ranks[r];
    auto& of_rank = works.emplace_back();
    of_rank.reserve(rank.steps.size());
    for (const auto& step : rank.steps) of_rank.push_back(work_of(rank, step));
    for (std::size_t s = 0; s < of_rank.size(); ++s) {
      const auto& work = of_rank[s];
      auto& best = fastest[{pool(r), work.operations}];
      if (best == nullptr || work.total < best->total) best = &work;
      // The trace does not show when the CPU began to prepare its first launch.
      if (s > 0 && !work.time.empty()) heads[work.operations].push_back(work.time.front());
    }
  }
  RunTimes times;
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    auto& of_rank = times.cpu.emplace_back();
    for (std::size_t s = 0; s < run.ranks[r].steps.size(); ++s) {
      const auto& work = *fastest[{pool(r), works[r][s].operations}];
      const auto& head = heads[works[r][s].operations];
      auto& of_step = of_rank.emplace_back();
      std::size_t launch = 0;
      for (const auto& item : run.ranks[r].steps[s].items) {
        const bool is_work = item.kind == CpuItem::Kind::work;
        of_step.push_back(is_work ? 0 : item.time);
        if (!is_work || launch >= work.time.size()) continue;
        const auto time = launch == 0 && !head.empty() ? lower_median(head) : work.time[launch];
        of_step.back() = time * cpu_share;
        ++launch;
      }
    }
  }
  for (std::size_t r = 0; r < run.ranks.size(); ++r) lengthen_waits_for_workers(run, r, times.cpu[r]);
  times.gpu = run.alone;
  times.slow_down = run.slow_down;
  for (const auto& collective : run.collectives) times.transfer.push_back(collective.transfer);
  return times;
}

namespace {

/// Nanoseconds of each activity during which a collective ran on the same GPU, waiting ones included.
std::vector<double> overlaps(const RankRun& rank) {
  std::vector<Span> communicating;
  for (const auto& activity : rank.activities) {
    if (activity.work == WorkClass::collective) communicating.push_back({activity.start, activity.duration});
  }
  const MergedSpans merged{std::move(communicating)};
  std::vector<double> result;
  for (const auto& activity : rank.activities) {
    const bool is_collective = activity.work == WorkClass::collective;
    result.push_back(is_collective ? 0
                                   : static_cast<double>(merged.within({activity.start, activity.duration})));
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
  auto& overlap = run.beside_collectives;
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
