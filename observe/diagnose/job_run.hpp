// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "observe/diagnose/rank_run.hpp"

namespace gradway {

inline Seconds from_nanoseconds(double time) {
  return Seconds{time / 1e9};
}

/// A collective on all ranks whose traces are given.
struct JobCollective {
  struct Member {
    std::int32_t rank = 0;  ///< index into `JobRun::ranks`
    std::int32_t activity = 0;
    bool waits = true;  ///< False if it ended before the last member began, as the root of a broadcast may.
  };
  CollectiveKind kind = CollectiveKind::all_reduce;
  double bytes = 0;  ///< 0: unknown
  std::int32_t ranks = 0;
  std::int32_t channels = 0;
  std::int32_t step = 0;
  std::vector<Member> members;
  std::int64_t first = 0;    ///< when the first member began
  std::int64_t last = 0;     ///< when the last member began
  std::int32_t late = 0;     ///< index of that rank
  double transfer = 0;       ///< nanoseconds from then until it ended
  bool is_complete = false;  ///< the traces of all its ranks are given
};

/// The traced steps of a job.
struct JobRun {
  KernelNames names;
  std::vector<RankRun> ranks;  ///< sorted by rank
  int world = 1;               ///< ranks of the job
  std::size_t steps = 0;       ///< of each rank
  std::vector<JobCollective> collectives;
  /// Index into `collectives` by rank and collective of the rank.
  std::vector<std::vector<std::int32_t>> collective_of;
  /// Duration of kernels during a collective over their duration without one, by class.
  std::array<double, work_classes> slow_down{};
  /// Nanoseconds that each activity would take without contention with collectives.
  std::vector<std::vector<double>> alone;
  /// Nanoseconds of each activity during which a collective ran on its GPU, waiting ones included.
  std::vector<std::vector<double>> beside_collectives;
  /// Nanoseconds of CPU work under the profiler, by rank and step, without pauses and waits.
  std::vector<std::vector<double>> cpu_work;

  bool is_whole() const { return static_cast<int>(ranks.size()) == world; }
  const RunActivity& activity(const JobCollective::Member& member) const {
    return ranks[static_cast<std::size_t>(member.rank)].activities[static_cast<std::size_t>(member.activity)];
  }
};

/// The reductions of gradients in a step, in order: those that the backward pass launches. Indices into
/// `JobRun::collectives`.
std::vector<std::size_t> gradient_reductions(const JobRun& run, std::size_t step);

/// Joins the traces of a job: checks that they belong together, aligns their clocks by the ends of their
/// collectives, matches collectives, and separates the contention of kernels with collectives.
/// @throws ConfigError if ranks occur twice or differ in their number of steps, in their job or in their
/// reductions
JobRun job_run(std::vector<RankRun> ranks, KernelNames names);

/// @throws ConfigError if a rank has a trace already @param ranks whose traces were read
void check_new_rank(std::span<const RankRun> ranks, const RankRun& added);

/// The times of a job's parts that a replay uses, in nanoseconds. Causes change them.
struct RunTimes {
  /// By rank, step and item of the CPU. Waits that are left out are negative.
  std::vector<std::vector<std::vector<double>>> cpu;
  std::vector<std::vector<double>> gpu;          ///< by rank and activity, without contention
  std::vector<double> transfer;                  ///< by collective of the job
  std::array<double, work_classes> slow_down{};  ///< of kernels during a collective, by class
};

/// Usual nanoseconds of CPU work per launch under the profiler.
double usual_launch();
/// The same on a rank, in its fastest step.
double launch_time(const JobRun& run, std::size_t rank);
/// Launches take longer than twice the usual time, which is the range between hosts.
bool has_slow_cpu(const JobRun& run, std::size_t rank);

/// The measured times without the overhead of the profiler. It only ever lengthens the CPU's work, and by
/// very different amounts from rank to rank and from step to step, so work takes the time that it takes in
/// the fastest step with the same operations on any rank, times `cpu_share`; on ranks with a slow
/// CPU in their own fastest step.
RunTimes measured_times(const JobRun& run, double cpu_share);

}  // namespace gradway
