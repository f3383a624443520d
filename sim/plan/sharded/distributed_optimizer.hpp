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
/// Gradients are added to contiguous buckets, filled from the last layer to the first; those of the last
/// micro-step are divided and reduce-scattered in place, bucket by bucket beside the backward pass
/// (overlap_grad_reduce) or all at once behind it. The optimizer steps a slice in fp32. Parameters are
/// gathered in place: all behind the step, or in the next forward pass, one bucket ahead of where it is
/// (overlap_param_gather).
class DistributedOptimizerSync final : public Sync {
 public:
  /// @param scenario must outlive this. @pre its strategy is DistributedOptimizer
  explicit DistributedOptimizerSync(const RankScenario& scenario);

  const Blocks* blocks() const override { return &blocks_; }
  /// A product of a step's first micro-batch adds to zeros; kernels of their own are taken not to (InternLM's
  /// do not, Megatron's do).
  bool keeps_gradients() const override { return !settings_.gradient_accumulation_fusion; }
  double moved_by_adding() const override { return (width_ + 2 * reduced_) / fp32_bytes; }
  void before_step(TaskList& tasks) override;
  void before_forward(TaskList& tasks, Module module) override;
  void gradients_ready(TaskList& tasks, std::size_t count, const Task& of, bool is_last) override;
  void before_optimizer(TaskList& tasks) override;
  void after_optimizer(TaskList& tasks) override;
  std::optional<OwnGradients> own_gradients() const override {
    return OwnGradients{Bytes{fp32_bytes * parameters_ * share_}, true};
  }
  std::vector<Partition> groups() const override;
  std::vector<Unit> take_units() override { return std::move(units_); }
  MemoryOfSync memory() const override;
  std::optional<HeldBySync> held(const MomentOfStep& moment) const override;

 private:
  bool gathers() const { return settings_.shards && !settings_.tensor_owners && ranks_ > 1; }
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
  /// As ranks keep and gather them.
  Bytes all_parameters() const;

  const Model& model_;
  const DistributedOptimizer& settings_;
  int ranks_;
  double share_;  ///< of the optimizer's states, that the rank with the most of them steps
  double width_;
  double kept_;  ///< bytes of a parameter that the optimizer steps
  double reduced_;
  double parameters_;
  Blocks blocks_;
  bool by_block_;
  std::vector<std::vector<std::size_t>> buckets_of_;  ///< by layer, or by block and one more for the root
  std::vector<Unit> units_;                           ///< buckets, the last layer's first
  std::vector<Gathering> state_;                      ///< by bucket
  std::vector<double> in_fp8_;                        ///< by bucket: elements that are kept and gathered so
  std::optional<TaskId> begins_;
  std::size_t open_ = 0;
  std::size_t filled_ = 0;
  std::vector<TaskId> to_wait_for_;
};

}  // namespace gradway
