// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/import/kineto/read/steps.hpp"
#include "sim/workload/profile.hpp"

namespace gradway {

/// What several steps agree on.
struct AveragedSteps {
  std::vector<std::size_t> used;  ///< indices of the steps that launch the same
  std::vector<Seconds> cpu;       ///< of each launch
  std::vector<Seconds> gpu;
  std::vector<bool> host_waits;
  Seconds step_time{};  ///< from the end of a step's work on the GPU to the end of the next one's
  Seconds gap{};        ///< between two activities of a stream while the CPU was ahead

  std::size_t representative() const { return used.back(); }
};

/// Averages the steps that launch the same kernels, copies and memsets in the same order: the largest such
/// group of complete steps, of two as large the later one. Each time is the lower median over the steps, and
/// all of them are then made longer by one factor, so that they add up to the lower median of the steps'
/// sums. The other steps are named in `warnings`.
/// @pre at least one step is complete
AveragedSteps average(std::span<const TracedStep> steps, std::vector<std::string>& warnings);

/// The stream that kernels spend most time on.
std::int64_t main_stream(std::span<const TracedLaunch> launches);

}  // namespace gradway
