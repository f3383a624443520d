// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sim/plan/sync.hpp"
#include "sim/workload/embedding_tables.hpp"

namespace gradway {

/// Embedding tables that the ranks divide, beside the strategy of all other parameters.
///
/// The forward pass starts with the lookups of the samples of all ranks in a rank's own tables. Their sums
/// are exchanged while the bottom MLP runs, and the interaction waits for them. In the backward pass the
/// gradients go back while the bottom MLP's backward pass runs, then one kernel steps the rows that were
/// looked up (optimizer in the backward pass). Indices of the next batch are exchanged at the start of a
/// step, in which nothing waits for them. With whole tables on ranks, sums are exchanged by all-to-all; with
/// rows on ranks, each has a part of every sum: reduce-scatter forward, all-gather backward.
/// @source github.com/facebookresearch/dlrm, dlrm_s_pytorch.py, distributed_forward, and
/// extend_distributed.py (the order); TorchRec, torchrec/distributed/sharding/tw_sharding.py and
/// rw_sharding.py (the exchanges), train_pipeline (indices of the next batch); FBGEMM,
/// split_table_batched_embeddings (the kernels)
class TablesSync final : public Sync {
 public:
  /// @param scenario its members must outlive this @param dense the strategy of all other parameters
  TablesSync(const RankScenario& scenario, std::unique_ptr<Sync> dense);

  void before_step(TaskList& tasks) override { dense_->before_step(tasks); }
  void before_micro_step(TaskList& tasks, MicroStep step) override;
  void before_forward(TaskList& tasks, Module module) override;
  void after_forward(TaskList& tasks, Module module) override { dense_->after_forward(tasks, module); }
  void before_backward(TaskList& tasks, Module module) override { dense_->before_backward(tasks, module); }
  void after_backward(TaskList& tasks, Module module) override;
  void before_recompute(TaskList& tasks, Module module) override { dense_->before_recompute(tasks, module); }
  void after_recompute(TaskList& tasks, Module module) override { dense_->after_recompute(tasks, module); }
  void gradients_ready(TaskList& tasks, std::size_t count, const Task& task, bool is_last) override {
    dense_->gradients_ready(tasks, count, task, is_last);
  }
  void before_optimizer(TaskList& tasks) override { dense_->before_optimizer(tasks); }
  void after_optimizer(TaskList& tasks) override { dense_->after_optimizer(tasks); }
  std::optional<OwnGradients> own_gradients() const override { return dense_->own_gradients(); }
  TaskId sum_norm(TaskList& tasks, TaskId norm) override { return dense_->sum_norm(tasks, norm); }
  const Blocks* blocks() const override { return dense_->blocks(); }
  bool keeps_gradients() const override { return dense_->keeps_gradients(); }
  double accumulation_traffic() const override { return dense_->accumulation_traffic(); }
  std::vector<Partition> groups() const override { return dense_->groups(); }
  Seconds extra_pause() const override { return dense_->extra_pause(); }
  std::vector<Unit> take_units() override { return dense_->take_units(); }
  SyncMemory memory() const override;
  std::optional<HeldMemory> held(const StepMoment& moment) const override { return dense_->held(moment); }

 private:
  bool is_interaction(Module module) const;
  bool is_whole(Module module) const { return module.kind == Module::Kind::model; }
  void look_up(TaskList& tasks) const;
  void update(TaskList& tasks) const;
  /// The exchange of sums, or of their gradients.
  TaskId exchange(TaskList& tasks, bool is_forward) const;

  RankScenario scenario_;
  std::unique_ptr<Sync> dense_;
  const EmbeddingTables& tables_;
  TableSharding sharding_;
  int ranks_;
  double samples_;  ///< of a micro-step of all ranks
  TableShare share_;
  std::optional<TaskId> exchanged_{};  ///< the pass's exchange, for which nothing has waited yet
};

}  // namespace gradway
