// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "sim/plan/model_tasks.hpp"

namespace gradway {

/// Launches each block of the model as a CUDA graph, forward and backward, where its kernels do not depend on
/// numbers that the CPU reads back. What stands outside of blocks, and hooks of a strategy between them, are
/// launched as before. The gradients of a graph are ready when all of it was launched.
/// @param model whose tasks know their blocks
void capture_layers(ModelTasks& model, const RankScenario& scenario, const ComputeCosts& costs);

/// Launches the tasks [0, end) of a step as one CUDA graph, those of a strategy and its collectives included;
/// the way of the input into the GPU is launched before it.
void capture_step(Program& program, std::size_t end, const RankScenario& scenario, const ComputeCosts& costs);

}  // namespace gradway
