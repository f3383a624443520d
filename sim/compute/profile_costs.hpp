// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"
#include "sim/workload/step_memory.hpp"

namespace gradway {

/// How the kernels of a profile are extrapolated to the platform's GPU.
enum class Extrapolation {
  none,      ///< the GPU is the same
  roofline,  ///< by the ratio of the rooflines of both GPUs, kernel by kernel
  anchor,    ///< as `roofline`, then scaled to a measured step on the platform's GPU
};

/// Times of a profiled step on the platform, without profiler and communication.
struct ProfileCosts : Unprofiled {
  std::vector<Seconds> gpu;  ///< by launch, for the job's batch on the platform's GPU
  Extrapolation extrapolation = Extrapolation::none;
  std::optional<Anchor> anchor;     ///< the anchor that was used
  double anchor_scale = 1;          ///< factor on all kernels that makes the step meet the anchor
  double extrapolation_factor = 1;  ///< total kernel time over that of the profile, at the same batch
};

Seconds total(const std::vector<Seconds>& times);

/// A launch of a step on one GPU without communication.
struct ReplayedLaunch {
  Seconds cpu{};
  Seconds gpu{};
  bool host_waits = false;
};

/// Step time in the steady state. One CPU thread launches in order, one stream runs in order with a `pause`
/// before each kernel, a kernel never starts before its launch, and the CPU is ahead by at most the depth of
/// the launch queue.
/// @param cpu_scale factor on the CPU time of launches; 0: the CPU takes no time
Seconds replay(const std::vector<ReplayedLaunch>& step, double cpu_scale, Seconds pause);

/// Removes the overhead of the profiler from a profile. With a measured step time: if kernels and gaps
/// between them explain it, the gaps are fitted to it; else the CPU times are. Without a measured step time,
/// ratios of our own nodes are used.
Unprofiled without_profiler(const Profile& profile);

/// Times of the model's profile without the profiler, extrapolated to the job's batch and the platform's GPU.
///
/// Batch: the time of a kernel beyond that of the shortest kernel is proportional to the batch. For products,
/// only half of the time beyond the GPU's best rate is, since larger products use the GPU better. (On an
/// H200, predicted against measured: vit_l_32 from batch 32 to 16 and 64 -1.1 and -0.7 %, gpt_medium from 8
/// to 4 -0.4 %, resnet50 from 64 to 32 and 128 +4.1 and -2.3 %.) GPU: the part of the time that the roofline
/// explains is scaled by the ratio of the rooflines of both GPUs, the rest by that of their arithmetic; the
/// shortest kernel's time is constant.
/// @pre the model has a profile; its GPU is the platform's or `scenario.profiled_gpu`
ProfileCosts profile_costs(const Scenario& scenario);

/// Memory of the passes of a profiled step at the job's batch. Empty if the profile has no memory.
StepMemory memory_of_profile(const Profile& profile, const Job& job);

}  // namespace gradway
