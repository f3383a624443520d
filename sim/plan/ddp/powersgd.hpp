// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/plan/ddp/comm_hooks.hpp"

namespace gradway {

/// Is a gradient of this shape compressed, or reduced as it is? @source as below
bool powersgd_compresses(const Parameter& parameter, int rank);

/// PowerSGD as PyTorch's hook does it, with error feedback and warm start, for a bucket whose gradients are
/// in place: on the compute stream the error is added, the bucket cloned, each matrix M (n x m) multiplied to
/// P = M Q; then, on streams of their own, an all-reduce of what is not compressed, of all P, Q = M^T P, an
/// all-reduce of all Q, M = P Q^T, a device synchronisation on the CPU (nothing more is issued until all is
/// done: no overlap with the rest of the backward pass), and the new error. P and Q are orthogonalised column
/// by column, tensor by tensor. A tensor is compressed if (n + m) r < n m / 2.
/// @return the task after which the bucket holds the mean
/// @source torch/distributed/algorithms/ddp_comm_hooks/powerSGD_hook.py, PyTorch 2.8; kernel counts checked
/// against
///         our trace of it on 4 H200
TaskId reduce_with_powersgd(TaskList& tasks, const ReadyBucket& ready, int rank);

}  // namespace gradway
