// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sim/compute/optimizer_share.hpp"
#include "sim/plan/sync.hpp"

namespace gradway {

/// Runs a strategy twice: for routed experts over the ranks that hold the same experts, and for all other
/// parameters over the ranks that hold the same model shard. Each has its own buckets and communicators, as
/// in Megatron and torchtitan.
/// @source megatron/core/distributed/distributed_data_parallel.py (expert_parallel_buffers);
/// torchtitan/models/llama4/infra/parallelize.py (dp_mod_ep_mesh)
class ExpertSync final : public Sync {
 public:
  /// @param scenario its members must outlive this
  /// @param layers by layer of the rank's model: its number in `whole_model`, which tasks refer to
  ExpertSync(const RankScenario& scenario, const Model& whole_model, const std::vector<std::int32_t>& layers);

  void before_step(TaskList& tasks) override;
  void before_micro_step(TaskList& tasks, MicroStep step) override;
  void before_forward(TaskList& tasks, Module module) override;
  void after_forward(TaskList& tasks, Module module) override;
  void before_backward(TaskList& tasks, Module module) override;
  void after_backward(TaskList& tasks, Module module) override;
  void before_recompute(TaskList& tasks, Module module) override;
  void after_recompute(TaskList& tasks, Module module) override;
  void gradients_ready(TaskList& tasks, std::size_t count, const Task& task, bool is_last) override;
  void before_optimizer(TaskList& tasks) override;
  void after_optimizer(TaskList& tasks) override;
  std::optional<OwnGradients> own_gradients() const override;
  TaskId sum_norm(TaskList& tasks, TaskId norm) override;
  const Blocks* blocks() const override { return dense_sync_->blocks(); }
  bool keeps_gradients() const override { return dense_sync_->keeps_gradients(); }
  double accumulation_traffic() const override { return dense_sync_->accumulation_traffic(); }
  std::vector<Partition> groups() const override;
  Seconds extra_pause() const override;
  std::vector<Unit> take_units() override;
  SyncMemory memory() const override;
  std::optional<HeldMemory> held(const StepMoment& moment) const override;

 private:
  template <class Action>
  void for_experts(TaskList& tasks, const Action& action);

  Model dense_;
  Model experts_;
  /// Gradients of a rank, by layer of the whole model.
  struct Gradients {
    std::size_t count = 0;
    bool is_of_experts = false;
  };
  std::vector<Gradients> gradients_;
  std::unique_ptr<Sync> dense_sync_;
  std::unique_ptr<Sync> expert_sync_;
  TaskList* tasks_ = nullptr;
  TaskList::Route route_;         ///< slot and stream of tasks that are issued for experts
  std::vector<TaskId> issued_{};  ///< tasks for experts that name units
};

}  // namespace gradway
