// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "sim/plan/sync.hpp"

namespace gradway {

/// Megatron-Core's distributed optimizer. @source megatron/core/distributed/param_and_grad_buffer.py,
/// distributed_data_parallel.py, core 0.20
///
/// Gradients are added to contiguous buckets, filled from the last layer to the first. In the last micro-step
/// the buckets are divided and reduce-scattered in place, one by one during the backward pass
/// (overlap_grad_reduce) or all after it. The optimizer steps a shard in fp32. Parameters are gathered in
/// place: all after the step, or in the next forward pass, one bucket ahead of use (overlap_param_gather).
class DistributedOptimizerSync final : public Sync {
 public:
  /// @param scenario must outlive this. @pre its strategy is DistributedOptimizer
  explicit DistributedOptimizerSync(const RankScenario& scenario);

  const Blocks* blocks() const override { return &blocks_; }
  /// A product of a step's first micro-batch adds to zeros; kernels of their own are taken not to (InternLM's
  /// do not, Megatron's do).
  bool keeps_gradients() const override { return !settings_.gradient_accumulation_fusion; }
  double accumulation_traffic() const override { return (width_ + 2 * reduced_) / fp32_bytes; }
  void before_step(TaskList& tasks) override;
  void before_forward(TaskList& tasks, Module module) override;
  void gradients_ready(TaskList& tasks, std::size_t count, const Task& task, bool is_last) override;
  void before_optimizer(TaskList& tasks) override;
  void after_optimizer(TaskList& tasks) override;
  std::optional<OwnGradients> own_gradients() const override {
    return OwnGradients{Bytes{fp32_bytes * parameters_ * share_}, true};
  }
  std::vector<Partition> groups() const override;
  std::vector<Unit> take_units() override { return std::move(units_); }
  SyncMemory memory() const override;
  std::optional<HeldMemory> held(const StepMoment& moment) const override;

 private:
  bool gathers() const { return settings_.shards && !settings_.tensor_owners && shards_ > 1; }
  struct Gathering {
    std::optional<TaskId> gathered{};
    bool is_used = false;
  };

  void gather(TaskList& tasks, std::size_t bucket);
  void reduce(TaskList& tasks, std::size_t bucket);
  void broadcast_tensors(TaskList& tasks, TaskId stepped);
  Bytes parameters_of(std::size_t bucket) const {
    return units_[bucket].size * (width_ / reduced_) - Bytes{(width_ - 1) * in_fp8_[bucket]};
  }
  /// Size of the parameters as ranks keep and gather them.
  Bytes all_parameters() const;

  const Model& model_;
  const DistributedOptimizer& settings_;
  int ranks_;
  int shards_;    ///< ranks of an instance
  double share_;  ///< share of the optimizer states stepped by the rank with the most of them
  double width_;
  double kept_;  ///< bytes of a parameter in the optimizer
  double reduced_;
  double parameters_;
  Blocks blocks_;
  bool by_block_;
  std::vector<std::vector<std::size_t>>
      buckets_of_;                ///< by layer, or by block with one more entry for the root
  std::vector<Unit> units_;       ///< buckets, the last layer's first
  std::vector<Gathering> state_;  ///< by bucket
  std::vector<double> in_fp8_;    ///< by bucket: elements kept and gathered in fp8
  std::optional<TaskId> begins_;
  std::size_t open_ = 0;
  std::size_t filled_ = 0;
  std::vector<TaskId> pending_;
};

}  // namespace gradway
