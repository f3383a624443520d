// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/plan/task_list.hpp"
#include "sim/workload/model.hpp"

namespace gradway {

/// Adds what SyncBatchNorm does besides the kernels of a BatchNorm, before these: it all-gathers mean,
/// inverse standard deviation and count of each rank, and selects the ranks with samples by a mask, for which
/// the CPU waits three times.
/// @source torch/nn/modules/_functions.py, SyncBatchNorm.forward, PyTorch 2.11
void sync_statistics(TaskList& tasks, const Layer& layer, int ranks);

/// The same for the backward pass: the sums of two gradients per channel are all-reduced. The CPU does not
/// wait.
/// @source ibid., SyncBatchNorm.backward
void sync_gradient_sums(TaskList& tasks, const Layer& layer);

/// A BatchNorm's buffers that DDP broadcasts: running mean and variance in fp32, and the number of batches.
struct BatchNormBuffers {
  static constexpr int in_fp32 = 2;      ///< tensors
  static constexpr int count_bytes = 8;  ///< int64
};

/// Number of channels of a BatchNorm.
double channels_of(const Layer& layer);

}  // namespace gradway
