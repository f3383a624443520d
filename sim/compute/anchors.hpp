// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/scenario/scenario.hpp"

namespace gradway {

/// The model's anchor on a GPU in the job's precision whose batch is nearest to the job's, as a ratio; of two
/// equally near ones that with the job's optimizer, then the larger batch. What the order of the file is does
/// not matter. @return nothing if there is none
const Anchor* matching_anchor(const Scenario& scenario, const Gpu& gpu);

/// @param work of forward and backward at the anchor's batch
/// @param busy what the anchor leaves for it
/// @throws ConfigError if that is more than the GPU's peak
void refuse_beyond_peak(const Scenario& scenario, const Gpu& gpu, const Anchor& anchor, Flops work,
                        Seconds busy);

}  // namespace gradway
