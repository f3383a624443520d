// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/plan/sync.hpp"

namespace gradway {

/// PyTorch's DistributedDataParallel. In the last micro-step, gradients are copied into their buckets as they
/// become ready, and each full bucket is reduced. After the backward pass the means are copied back unless
/// gradients are views of the buckets. Earlier micro-steps run under no_sync. Buffers of a profiled model and
/// of BatchNorms are broadcast before the step.
class DdpSync final : public Sync {
 public:
  /// @param scenario must outlive this
  explicit DdpSync(const RankScenario& scenario);

  void before_step(TaskList& tasks) override;
  void before_micro_step(TaskList&, MicroStep micro) override { is_last_ = micro.is_last; }
  void after_forward(TaskList& tasks, Module module) override;
  void gradients_ready(TaskList& tasks, std::size_t count, const Task& task, bool is_last) override;
  void before_optimizer(TaskList& tasks) override;
  void after_optimizer(TaskList& tasks) override;
  Seconds extra_pause() const override;
  std::vector<Unit> take_units() override { return std::move(buckets_); }
  SyncMemory memory() const override;

 private:
  int gradients() const;
  void share_used(TaskList& tasks);
  void read_used(TaskList& tasks);

  RankScenario scenario_;
  const Ddp& ddp_;               ///< settings in the scenario
  double width_;                 ///< bytes of a gradient element
  std::vector<Unit> buckets_;    ///< in order of their reduction
  std::size_t filled_ = 0;       ///< gradients copied into the open bucket
  std::vector<TaskId> reduced_;  ///< by closed bucket
  bool is_last_ = true;          ///< the current micro-step reduces gradients
  std::optional<TaskId> used_;   ///< all-reduce of which parameters were used
};

}  // namespace gradway
