// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/scenario/job.hpp"
#include "sim/workload/model.hpp"

namespace gradway {

/// The model's anchor on a GPU in the job's precision whose batch is nearest to the job's by ratio. Among
/// equal ratios, the job's optimizer and then the larger batch are preferred. The order of anchors does not
/// matter.
/// @return null if there is none
const Anchor* matching_anchor(const Model& model, const Job& job, const Gpu& gpu);

/// Checks that the GPU can do `work` in the time `busy`.
/// @param work operations of forward and backward at the anchor's batch
/// @param busy time of the anchor for them
/// @throws ConfigError if their rate exceeds the GPU's peak
void refuse_beyond_peak(const Model& model, const Gpu& gpu, const Anchor& anchor, Flops work, Seconds busy);

}  // namespace gradway
