// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"
#include "sim/workload/step_memory.hpp"

namespace gradway {

/// How the kernels of a profile came to the GPU of the platform.
enum class Moved {
  not_at_all,  ///< the same GPU
  roofline,    ///< kernel by kernel, by the ratio of the two GPUs' rooflines
  anchor,      ///< so, then all scaled to meet a measured step on the platform's GPU
};

/// What a profiled step costs on the platform, without the profiler and without communication.
struct ProfileCosts : Unprofiled {
  std::vector<Seconds> gpu;  ///< by launch, for the job's batch on the platform's GPU
  Moved moved = Moved::not_at_all;
  std::optional<Anchor> anchor;  ///< that was met
  double anchor_scale = 1;       ///< by which kernels moved by roofline were multiplied for it
  double moved_by =
      1;  ///< total kernel time on the platform's GPU over that of the profile, at the same batch
};

Seconds total(const std::vector<Seconds>& times);

/// Takes the profiler's influence out of a profile. With a measured step time: if the kernels and the pauses
/// between them explain it, the pauses take up what is left; else the CPU's times are scaled until the replay
/// meets it. Without: our own nodes' ratios.
Unprofiled without_profiler(const Profile& profile);

/// Takes the profiler's influence out of the model's profile, then moves its kernels to the job's batch and
/// the platform's GPU.
///
/// Batch: a kernel grows with it beyond the shortest kernel's time. Of what a product takes beyond the GPU's
/// best rate half stays as it is, since larger products fill the GPU better. (On an H200, predicted against
/// measured: vit_l_32 from batch 32 to 16 and 64 -1.1 and -0.7 %, gpt_medium from 8 to 4 -0.4 %, resnet50
/// from 64 to 32 and 128 +4.1 and -2.3 %.) GPU: what the roofline explains of a kernel
/// beyond the shortest kernel's time moves by the ratio of the two GPUs' rooflines, the rest by that of their
/// arithmetic.
/// @pre the model has a profile; its GPU is the platform's or `scenario.profiled_gpu`
ProfileCosts profile_costs(const Scenario& scenario);

/// Memory that the passes of a profiled step hold with the job's batch. Empty if the profile has no memory.
StepMemory memory_of_profile(const Profile& profile, const Job& job);

}  // namespace gradway
