// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "observe/diagnose/job_run.hpp"
#include "sim/metrics/intervals.hpp"

namespace gradway {

/// Kinds of `ReplayedRun::work`.
enum ReplayedWork : int { replayed_kernels, replayed_collectives, replayed_work_kinds };

/// A step of a job as replayed, in the steady state.
struct ReplayedRun {
  Seconds step{};  ///< mean over the traced steps
  /// Per rank and step: time in which the GPU runs a kernel or copy that is not a collective.
  std::vector<Seconds> busy{};
  /// Per rank and step: time in which the GPU runs nothing but collectives.
  std::vector<Seconds> exposed{};
  std::vector<Seconds> idle{};  ///< per rank and step: the GPU runs nothing
  /// By rank: what its GPU runs in the traced steps, of the kinds `ReplayedWork`.
  std::vector<std::vector<Interval>> work{};
};

/// Replays the traced steps with other times and the measured dependences: the CPU of a rank works in order,
/// a kernel follows its launch and the kernel before it on its stream, a collective begins to transfer when
/// its last member has reached it, launches and waits wait for what they waited for. Kernels take longer
/// during collectives, as measured. The steps are repeated until they start as they end.
/// @throws ConfigError if the ranks wait for each other
ReplayedRun replay_run(const JobRun& run, const RunTimes& times);

/// `ReplayedRun::step` alone.
Seconds replayed_step(const JobRun& run, const RunTimes& times);

}  // namespace gradway
