// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "observe/diagnose/job_run.hpp"

namespace gradway {

/// What a GPU does from a moment on.
struct GpuState {
  Seconds from{};  ///< since the begin of the replayed steps
  bool computes = false;
  bool communicates = false;
};

/// A step of a job as replayed, in the steady state.
struct ReplayedRun {
  Seconds step{};  ///< mean over the traced steps
  /// Per rank and step: time in which the GPU runs a kernel or copy that is not a collective.
  std::vector<Seconds> busy{};
  /// Per rank and step: time in which the GPU runs nothing but collectives.
  std::vector<Seconds> exposed{};
  std::vector<std::vector<GpuState>> states{};  ///< by rank, over all traced steps
  std::vector<Seconds> idle{};                  ///< per rank and step: the GPU runs nothing
};

/// Replays the traced steps with other times and the measured dependences: the CPU of a rank works in order,
/// a kernel follows its launch and the kernel before it on its stream, a collective begins to transfer when
/// its last member has reached it, launches and waits wait for what they waited for. Kernels take longer
/// during collectives, as measured. The steps are repeated until they start as they end.
ReplayedRun replay_run(const JobRun& run, const RunTimes& times);

}  // namespace gradway
