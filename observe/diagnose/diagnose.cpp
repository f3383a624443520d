// SPDX-License-Identifier: Apache-2.0
#include "observe/diagnose/diagnose.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/problem.hpp"
#include "sim/cost/framework_cost.hpp"

namespace gradway {
namespace {

// As for jumps in step times (`watch_steps`): steps of healthy runs differ by up to a percent.
constexpr double least_share = 0.02;

ExchangeKind exchange_of(const JobRun& run) {
  bool reduces = false;
  bool shards = false;
  for (const auto& collective : run.collectives) {
    reduces = reduces || collective.kind == CollectiveKind::all_reduce;
    shards = shards || collective.kind == CollectiveKind::reduce_scatter;
  }
  if (run.collectives.empty()) return ExchangeKind::none;
  if (shards) return ExchangeKind::sharded;
  return reduces ? ExchangeKind::ddp : ExchangeKind::other;
}

double buckets_of(const JobRun& run) {
  std::size_t buckets = 0;
  for (std::size_t step = 0; step < run.steps; ++step) buckets += gradient_reductions(run, step).size();
  return static_cast<double>(buckets) / static_cast<double>(run.steps);
}

/// Mean time from the end of a step's work on the GPU to the end of the next one's; of a single step, from
/// its first launch.
Seconds traced_step(const RankRun& rank) {
  std::vector<std::int64_t> ends(rank.steps.size());
  for (const auto& activity : rank.activities) {
    auto& end = ends[static_cast<std::size_t>(activity.step)];
    end = std::max(end, activity.end());
  }
  if (ends.size() > 1)
    return from_nanoseconds(static_cast<double>(ends.back() - ends.front()) /
                            static_cast<double>(ends.size() - 1));
  return from_nanoseconds(static_cast<double>(ends.front() - rank.activities.front().start));
}

std::vector<CollectiveTimes> collective_times(const JobRun& run, CollectiveExpectations& expectations) {
  std::map<std::tuple<CollectiveKind, double, int>, CollectiveTimes> kinds;
  for (const auto& collective : run.collectives) {
    auto& times = kinds[{collective.kind, collective.bytes, collective.ranks}];
    times.kind = collective.kind;
    times.bytes = Bytes{collective.bytes};
    times.ranks = collective.ranks;
    times.channels = collective.channels;
    times.per_step += 1;
    times.transfer += from_nanoseconds(collective.transfer);
    double waiting = 0;
    for (const auto& member : collective.members) {
      const auto& activity = run.activity(member);
      if (member.waits) waiting += static_cast<double>(collective.last - activity.start);
    }
    times.waiting += from_nanoseconds(waiting / static_cast<double>(collective.members.size()));
    if (!times.expected) {
      if (const auto expected = expectations.time(collective)) times.expected = from_nanoseconds(*expected);
    }
  }
  std::vector<CollectiveTimes> result;
  for (auto& [key, times] : kinds) {
    times.transfer = times.transfer / times.per_step;
    times.waiting = times.waiting / times.per_step;
    times.per_step /= static_cast<double>(run.steps);
    result.push_back(times);
  }
  std::ranges::stable_sort(
      result, [](const auto& a, const auto& b) { return a.transfer * a.per_step > b.transfer * b.per_step; });
  return result;
}

/// Of the time of an activity, the share in which it had not begun although nothing was missing.
double interrupted_share(const JobRun& run, std::size_t rank, std::size_t activity) {
  const auto alone = run.alone[rank][activity];
  return alone > 0 ? run.ranks[rank].activities[activity].interruption / alone : 0;
}

std::vector<RankTimes> rank_times(const JobRun& run, const ReplayedRun& replayed) {
  std::vector<RankTimes> result;
  const auto steps = static_cast<double>(run.steps);
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    RankTimes times;
    times.rank = run.ranks[r].rank;
    times.traced_step = traced_step(run.ranks[r]);
    times.busy = replayed.busy[r];
    times.exposed = replayed.exposed[r];
    times.idle = replayed.idle[r];
    times.launches = static_cast<double>(run.ranks[r].activities.size()) / steps;
    times.launch = from_nanoseconds(launch_time(run, r));
    Seconds interrupted{};
    for (std::size_t i = 0; i < run.alone[r].size(); ++i) {
      const auto& activity = run.ranks[r].activities[i];
      if (activity.work != WorkClass::collective)
        times.phases[static_cast<std::size_t>(activity.phase)] += from_nanoseconds(run.alone[r][i] / steps);
      interrupted += from_nanoseconds(activity.interruption / steps);
    }
    interrupted = std::min(interrupted, times.busy);
    times.busy -= interrupted;
    times.idle += interrupted;
    result.push_back(times);
  }
  return result;
}

std::vector<ClassTimes> class_times(const JobRun& run, const RunTimes& expected) {
  std::array<ClassTimes, work_classes> sums{};
  const auto share = static_cast<double>(run.steps) * static_cast<double>(run.ranks.size());
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    for (std::size_t i = 0; i < run.alone[r].size(); ++i) {
      const auto& activity = run.ranks[r].activities[i];
      if (activity.work == WorkClass::collective) continue;
      auto& sum = sums[static_cast<std::size_t>(activity.work)];
      sum.measured += from_nanoseconds(static_cast<double>(activity.duration) / share);
      sum.expected += from_nanoseconds(expected.gpu[r][i] * (1 - interrupted_share(run, r, i)) / share);
    }
  }
  auto& collectives = sums[static_cast<std::size_t>(WorkClass::collective)];
  for (std::size_t i = 0; i < run.collectives.size(); ++i) {
    const auto weight = static_cast<double>(run.collectives[i].members.size()) / share;
    collectives.measured += from_nanoseconds(run.collectives[i].transfer * weight);
    collectives.expected += from_nanoseconds(expected.transfer[i] * weight);
  }
  std::vector<ClassTimes> result;
  for (std::size_t work = 0; work < work_classes; ++work) {
    sums[work].work = static_cast<WorkClass>(work);
    if (sums[work].measured > Seconds{}) result.push_back(sums[work]);
  }
  return result;
}

/// Recording of each operation slows the CPU down; that of CUDA's calls alone is taken to cost nothing.
double assumed_cpu_share(const JobRun& run) {
  return run.ranks.front().has_operations ? profiled_cpu_share : 1;
}

/// The share of the CPU's time under the profiler with which the replay meets the measured step, if any does.
double fitted_cpu_share(const JobRun& run, Seconds step) {
  double low = 0.25;
  double high = 1.5;
  constexpr int halvings = 8;
  for (int i = 0; i < halvings; ++i) {
    const auto middle = (low + high) / 2;
    (replayed_step(run, measured_times(run, middle)) < step ? low : high) = middle;
  }
  // A step that does not depend on the CPU says nothing about it.
  const auto step_at = [&](double share) { return replayed_step(run, measured_times(run, share)); };
  constexpr double same = 0.001;
  const auto fitted = (low + high) / 2;
  const auto assumed = assumed_cpu_share(run);
  return step_at(fitted) < step_at(assumed) * (1 + same) && step_at(fitted) > step_at(assumed) * (1 - same)
             ? assumed
             : fitted;
}

/// Of what delays seen a few times cost on average, the share that they cost at least. The system interrupts
/// every program now and then.
/// @source limit of 95 % of a Poisson distribution's mean, by Wilson and Hilferty
double sure_share(const RunCause& cause, const JobRun& run) {
  if (cause.kind != CauseKind::pauses && cause.kind != CauseKind::slow_operations) return 1;
  const auto ranks = cause.ranks.empty() ? run.ranks.size() : cause.ranks.size();
  const auto seen = cause.events * static_cast<double>(run.steps * ranks);
  constexpr double normal_quantile = 1.645;
  return std::pow(std::max(0.0, 1 - 1 / (9 * seen) - normal_quantile / (3 * std::sqrt(seen))), 3);
}

/// Removes the candidates one after the other: stragglers at random, then the one that costs most alone, and
/// what may be meant at the end.
void weigh(const JobRun& run, std::vector<Candidate> candidates, RunTimes& times, Diagnosis& diagnosis) {
  std::vector<std::pair<Seconds, std::size_t>> alone;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    auto without = times;
    candidates[i].remove(without);
    alone.emplace_back(diagnosis.replayed - replayed_step(run, without), i);
  }
  std::ranges::stable_sort(alone, std::ranges::greater{}, &std::pair<Seconds, std::size_t>::first);
  // What may be meant is removed last, so that it does not hide what a fault costs. What delays single ranks
  // at random costs all of them that much because the delays do not coincide.
  std::ranges::stable_partition(
      alone, [&](const auto& gain) { return candidates[gain.second].cause.confidence != Confidence::low; });
  std::ranges::stable_partition(alone, [&](const auto& gain) {
    return candidates[gain.second].cause.kind == CauseKind::random_stragglers;
  });
  auto step = diagnosis.replayed;
  for (const auto& [lost_alone, i] : alone) {
    auto& cause = candidates[i].cause;
    auto without = times;
    candidates[i].remove(without);
    const auto shorter = replayed_step(run, without);
    // Ranks differ a little in every run.
    if (cause.kind == CauseKind::random_stragglers && shorter >= step) continue;
    cause.lost = std::max(Seconds{}, step - shorter);
    if (shorter < step) {
      step = shorter;
      times = std::move(without);
    }
    const bool matters = sure_share(cause, run) * cause.lost >= least_share * diagnosis.replayed;
    auto& list = !matters                              ? diagnosis.harmless
                 : cause.confidence == Confidence::low ? diagnosis.possible
                                                       : diagnosis.causes;
    const auto same = std::ranges::find_if(list, [&](const RunCause& known) {
      return known.kind == cause.kind && known.ranks == cause.ranks && known.precision == cause.precision;
    });
    if (same == list.end()) {
      list.push_back(std::move(cause));
    } else {
      same->lost += cause.lost;  // Another sign of the same.
    }
  }
  for (auto* list : {&diagnosis.causes, &diagnosis.possible, &diagnosis.harmless})
    std::ranges::stable_sort(*list, std::ranges::greater{}, &RunCause::lost);
  diagnosis.expected = step;
}

/// The profiler lengthens the CPU's work only, up to some times. A step is at least as long as its work on a
/// GPU.
void check_step_time(Seconds step_time, const Diagnosis& diagnosis, const ReplayedRun& replayed) {
  constexpr double faster_clocks = 0.5;
  constexpr double most_stalls = 10;
  const auto least = faster_clocks * *std::ranges::max_element(replayed.busy);
  const auto most = most_stalls * diagnosis.traced;
  if (step_time >= least && step_time <= most) return;
  refuse_at(Where{"--step-time", 0, 0, 0, {}},
            step_time < least ? "the step time is less than half of what a GPU of the traces works in a step"
                              : "the step time is more than ten times that of the traces",
            "give the time of the steps that were traced, without the profiler");
}

/// Each collective takes as many seconds more on the other platform as NCCL's model says. What kernels cost
/// it here stays, as all else does.
Elsewhere step_elsewhere(const JobRun& run, RunTimes expected, CollectiveExpectations& here,
                         const DiagnosisBasis& basis) {
  CollectiveExpectations there{basis};
  bool is_moved = false;
  for (std::size_t i = 0; i < run.collectives.size(); ++i) {
    const auto time_here = here.time(run.collectives[i]);
    const auto time_there = there.time(run.collectives[i]);
    if (!time_here || !time_there || expected.transfer[i] <= 0) continue;
    expected.transfer[i] = std::max(*time_there, expected.transfer[i] + *time_there - *time_here);
    is_moved = true;
  }
  if (!is_moved)
    refuse_at(
        Where{run.ranks.front().file, 0, 0, 0, {}},
        fmt::format("no collective of these traces can be moved to {}: they have none, or none of known "
                    "size",
                    basis.platform_name),
        "leave out --on, or give traces of PyTorch's profiler with collectives");
  return {basis.platform_name, replayed_step(run, expected)};
}

}  // namespace

bool Diagnosis::is_healthy(const DiagnosisBasis& basis) const {
  return causes.empty() && !is_slower_than_traced() && (!basis.step || measured <= basis.step->high);
}

bool Diagnosis::is_slower_than_traced() const {
  constexpr double usual_difference = 1.1;  // between steps of a run
  return measured > usual_difference * std::max(traced, replayed);
}

bool Diagnosis::has_unjudged_collectives() const {
  return std::ranges::any_of(collectives, [](const auto& collective) { return !collective.expected; });
}

double Diagnosis::lost_share() const {
  Seconds lost{};
  for (const auto& cause : causes) lost += cause.lost;
  return lost / measured;
}

Seconds Diagnosis::unexplained() const {
  auto remaining = measured - expected;
  for (const auto* list : {&causes, &possible, &harmless}) {
    for (const auto& cause : *list) remaining -= cause.lost;
  }
  return remaining;
}

Diagnosis diagnose(const JobRun& run, const DiagnosisBasis& basis, std::optional<Seconds> step_time,
                   const DiagnosisBasis* elsewhere) {
  CollectiveExpectations expectations{basis};
  Diagnosis diagnosis;
  diagnosis.exchange = exchange_of(run);
  diagnosis.buckets = buckets_of(run);
  diagnosis.cpu_share = step_time ? fitted_cpu_share(run, *step_time) : assumed_cpu_share(run);
  auto times = measured_times(run, diagnosis.cpu_share);
  const auto replayed = replay_run(run, times);
  diagnosis.replayed = replayed.step;
  diagnosis.measured = step_time.value_or(replayed.step);
  for (const auto& rank : run.ranks) diagnosis.traced = std::max(diagnosis.traced, traced_step(rank));
  if (step_time) check_step_time(*step_time, diagnosis, replayed);
  std::vector<Candidate> candidates;
  find_cpu_causes(run, candidates);
  find_gpu_causes(run, basis, candidates);
  find_collective_causes(run, expectations, candidates);
  find_bucket_causes(run, expectations, candidates);
  find_stragglers(run, candidates);
  weigh(run, std::move(candidates), times, diagnosis);
  diagnosis.replayed_work = replayed.work;
  diagnosis.expected_work = replay_run(run, times).work;
  diagnosis.collectives = collective_times(run, expectations);
  diagnosis.ranks = rank_times(run, replayed);
  diagnosis.classes = class_times(run, times);
  if (elsewhere != nullptr) diagnosis.elsewhere = step_elsewhere(run, times, expectations, *elsewhere);
  return diagnosis;
}

}  // namespace gradway
