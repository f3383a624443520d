// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/plan/sync.hpp"

namespace gradway {

/// PyTorch's DistributedDataParallel. The gradients of the last micro-step are copied into their buckets as
/// they get ready, each full bucket is reduced, and after the backward pass the means are copied back unless
/// gradients are views of the buckets. Earlier micro-steps run under no_sync. A profiled model's buffers are
/// broadcast before the step.
class DdpSync final : public Sync {
 public:
  /// @param scenario must outlive this
  explicit DdpSync(const RankScenario& scenario);

  void before_step(TaskList& tasks) override;
  void gradients_ready(TaskList& tasks, std::size_t count, const Task& of, bool is_last) override;
  void before_optimizer(TaskList& tasks) override;
  void after_optimizer(TaskList& tasks) override;
  Seconds longer_pause() const override;
  std::vector<Unit> take_units() override { return std::move(buckets_); }
  MemoryOfSync memory() const override;

 private:
  RankScenario scenario_;
  const Ddp& ddp_;               ///< of the scenario
  double width_;                 ///< bytes of an element of a gradient
  std::vector<Unit> buckets_;    ///< in the order of their reduction
  std::size_t filled_ = 0;       ///< gradients of the open bucket that are in place
  std::vector<TaskId> reduced_;  ///< by bucket that was closed
};

}  // namespace gradway
