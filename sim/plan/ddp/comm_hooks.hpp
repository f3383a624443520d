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
/// powersgd.hpp.
/// @return the task after which the bucket holds the mean
/// @source torch/distributed/algorithms/ddp_comm_hooks/default_hooks.py, PyTorch 2.8
TaskId reduce_bucket(TaskList& tasks, const ReadyBucket& ready, const Ddp& ddp);

/// An all-reduce on the communicator's stream. @param after task that must have ended on every rank
TaskId all_reduce(TaskList& tasks, std::string name, Bytes size, std::int32_t bucket, TaskId after);

}  // namespace gradway
