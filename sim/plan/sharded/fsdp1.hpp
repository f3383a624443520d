// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "sim/plan/sharded/sharded_groups.hpp"
#include "sim/plan/sync.hpp"

namespace gradway {

/// FSDP1, as `FullyShardedDataParallel` of PyTorch 2.11 issues it. @source
/// torch/distributed/fsdp/_runtime_utils.py, _limiter_utils.py
///
/// The parameters of a group are views of one flat tensor, so nothing is copied in or out; the backward pass
/// concatenates their gradients. Gathers wait only for the communicator. The CPU waits for the second last
/// freed group before it issues the next gather (limit_all_gathers). Gradients are cast and reduced during
/// the backward pass, which waits for them at its end.
class Fsdp1Sync final : public Sync {
 public:
  /// @param scenario must outlive this. @pre its strategy is Fsdp1
  explicit Fsdp1Sync(const RankScenario& scenario);

  const Blocks* blocks() const override { return &groups_.blocks(); }
  bool keeps_gradients() const override { return settings_.no_sync; }
  void before_step(TaskList& tasks) override;
  void before_micro_step(TaskList& tasks, MicroStep micro) override;
  void before_forward(TaskList& tasks, Module module) override;
  void after_forward(TaskList& tasks, Module module) override;
  void before_backward(TaskList& tasks, Module module) override;
  void after_backward(TaskList& tasks, Module module) override;
  void before_optimizer(TaskList& tasks) override;
  std::optional<OwnGradients> own_gradients() const override { return OwnGradients{memory().gradients}; }
  TaskId sum_norm(TaskList& tasks, TaskId norm) override;

  std::vector<Partition> groups() const override { return partitions_; }
  std::vector<Unit> take_units() override { return std::move(units_); }
  SyncMemory memory() const override;
  std::optional<HeldMemory> held(const StepMoment& moment) const override;

 private:
  struct Gathering {
    std::optional<TaskId> gathered{};
    bool is_used = false;  ///< whether the compute stream has waited for it
  };

  void gather(TaskList& tasks, std::size_t group);
  void use(TaskList& tasks, std::size_t group);
  void free(TaskList& tasks, std::size_t group);
  void reduce(TaskList& tasks, std::size_t group);
  Bytes whole(std::size_t group, double width) const { return Bytes{width * groups_[group].padded}; }

  double with_gradients() const;

  const Fsdp1& settings_;
  int shards_;
  int micro_batches_;  ///< of a step
  double kept_width_;  ///< bytes per element of the shards
  WrappedModel groups_;
  double gathered_width_;
  double reduced_width_;
  std::vector<Partition> partitions_;  ///< by slot
  MicroStep micro_;
  StreamId cast_{0};
  StreamId reduction_{0};
  StreamId replicas_{0};
  std::vector<Gathering> state_;    ///< by group
  std::vector<std::size_t> order_;  ///< in which groups ended their forward pass
  std::optional<TaskId> gate_;
  std::deque<TaskId> freed_;  ///< groups that the CPU has not waited for yet
  std::vector<TaskId> pending_;
  std::vector<Unit> units_;
};

}  // namespace gradway
