// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "sim/study/explain/explain.hpp"

namespace gradway {

/// Changes of a job with which the samples of a step stay the same and the expected memory fits into the GPU:
/// recomputed blocks, smaller micro-batches, a loss in chunks, sharding, offload. Two changes at a time if no
/// single one suffices. The shortest step first; empty if none of them suffices.
/// @param nccl buffers of NCCL as the job is written
/// @pre the job trains a model whose memory is known
std::vector<Counterfactual> changes_to_fit(const Scenario& scenario, Bytes nccl, std::string_view engine,
                                           int threads);

}  // namespace gradway
