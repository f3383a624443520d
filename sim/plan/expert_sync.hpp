// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sim/compute/optimizer_share.hpp"
#include "sim/plan/sync.hpp"

namespace gradway {

/// A strategy twice: for routed experts over the ranks that hold the same experts, and for all else over
/// those that hold the same part of the model; each with buckets and communicators of its own, as Megatron's
/// and torchtitan's.
/// @source megatron/core/distributed/distributed_data_parallel.py (expert_parallel_buffers);
/// torchtitan/models/llama4/infra/parallelize.py (dp_mod_ep_mesh)
class ExpertSync final : public Sync {
 public:
  /// @param layers by layer of the rank's model: its number in `whole`, by which tasks name it. What the
  ///        scenario names must outlive this.
  ExpertSync(const RankScenario& scenario, const Model& whole, const std::vector<std::int32_t>& layers);

  void before_step(TaskList& tasks) override;
  void before_micro_step(TaskList& tasks, MicroStep step) override;
  void before_forward(TaskList& tasks, Module module) override;
  void after_forward(TaskList& tasks, Module module) override;
  void before_backward(TaskList& tasks, Module module) override;
  void after_backward(TaskList& tasks, Module module) override;
  void before_recompute(TaskList& tasks, Module module) override;
  void after_recompute(TaskList& tasks, Module module) override;
  void gradients_ready(TaskList& tasks, std::size_t count, const Task& of, bool is_last) override;
  void before_optimizer(TaskList& tasks) override;
  void after_optimizer(TaskList& tasks) override;
  std::optional<OwnGradients> own_gradients() const override;
  TaskId sum_norm(TaskList& tasks, TaskId norm) override;
  const Blocks* blocks() const override { return of_others_->blocks(); }
  bool keeps_gradients() const override { return of_others_->keeps_gradients(); }
  double moved_by_adding() const override { return of_others_->moved_by_adding(); }
  std::vector<Partition> groups() const override;
  Seconds longer_pause() const override;
  std::vector<Unit> take_units() override;
  MemoryOfSync memory() const override;
  std::optional<HeldBySync> held(const MomentOfStep& moment) const override;

 private:
  template <class Action>
  void for_experts(TaskList& tasks, const Action& action);

  Model others_;
  Model experts_;
  /// By layer of the whole model: the rank's gradients.
  struct Gradients {
    std::size_t count = 0;
    bool is_of_experts = false;
  };
  std::vector<Gradients> gradients_;
  std::unique_ptr<Sync> of_others_;
  std::unique_ptr<Sync> of_experts_;
  TaskList* tasks_ = nullptr;
  TaskList::Route route_;         ///< of what is issued for experts
  std::vector<TaskId> issued_{};  ///< for experts, that name units
};

}  // namespace gradway
