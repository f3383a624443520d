// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/plan/task_list.hpp"
#include "sim/scenario/job.hpp"
#include "sim/workload/model.hpp"

namespace gradway {

/// A bucket whose gradients are complete and that is about to be reduced.
struct ReadyBucket {
  const Model& model;
  const Unit& bucket;
  std::int32_t index;
  int ranks;
};

/// Adds the tasks by which DDP reduces a bucket, with or without a communication hook. The first task follows
/// the copy of the last gradient on the compute stream. none: one all-reduce. fp16, bf16: cast and division
/// on the compute stream, all-reduce of half the bytes, and the cast back on a separate stream. powersgd: see
/// `reduce_with_powersgd`.
/// @return the task after which the bucket holds the mean
/// @source torch/distributed/algorithms/ddp_comm_hooks/default_hooks.py, PyTorch 2.8
TaskId reduce_bucket(TaskList& tasks, const ReadyBucket& ready, const Ddp& ddp);

/// An all-reduce on the communicator's stream. @param after task that must have ended on every rank
TaskId all_reduce(TaskList& tasks, std::string name, Bytes size, std::int32_t bucket, TaskId after);

/// Whether a gradient of this shape is compressed. @source as below
bool powersgd_compresses(const Parameter& parameter, int rank);

/// PowerSGD as in PyTorch's hook, with error feedback and warm start, for a complete bucket. On the compute
/// stream, the error is added, the bucket is cloned, and each matrix M (n x m) is multiplied to P = M Q.
/// Then, on separate streams, come an all-reduce of uncompressed tensors, one of all P, Q = M^T P, an
/// all-reduce of all Q, M = P Q^T, a device synchronization on the CPU (so that nothing overlaps with the
/// rest of the backward pass), and the new error. P and Q are orthogonalized column by column, tensor by
/// tensor. A tensor is compressed if (n + m) r < n m / 2.
/// @return the task after which the bucket holds the mean
/// @source torch/distributed/algorithms/ddp_comm_hooks/powerSGD_hook.py, PyTorch 2.8; kernel counts checked
/// against our trace on 4 H200
TaskId reduce_with_powersgd(TaskList& tasks, const ReadyBucket& ready, int rank);

}  // namespace gradway
