// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "sim/plan/model_tasks.hpp"

namespace gradway {

/// Launches each block of the model as a CUDA graph, or the whole of each pass, forward and backward, if its
/// kernels do not depend on values that the CPU reads back. Tasks outside of blocks, and hooks of a strategy
/// between them, are launched as before. The gradients of a graph are ready when the whole graph was
/// launched.
/// @param model with the block of each task
void capture_layers(ModelTasks& model, const RankScenario& scenario, const ComputeCosts& costs,
                    bool by_block);

/// Launches the tasks [0, end) of a step as one CUDA graph, including those of the strategy and its
/// collectives. The input is copied to the GPU before it.
void capture_step(Program& program, std::size_t end, const RankScenario& scenario, const ComputeCosts& costs);

}  // namespace gradway
