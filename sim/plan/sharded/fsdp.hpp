// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "sim/plan/sharded/sharded_groups.hpp"
#include "sim/plan/sync.hpp"

namespace gradway {

/// FSDP2, as `fully_shard` of PyTorch 2.11 issues it. @source torch/distributed/fsdp/_fully_shard/
/// (_fsdp_param_group.py, _fsdp_collectives.py, _fsdp_state.py)
///
/// A group is gathered before its forward pass and again before its backward pass. All gathers and reductions
/// use one communicator, in the order of issue. In the forward pass a gather is issued when the CPU reaches
/// the group, and waits until the second group before it has been copied out; in the backward pass one group
/// is prefetched. Copies in run on a separate stream; copies out, and copies of gradients, run on the compute
/// stream. Before the gradients of a group are copied for their reduction, the compute stream waits for the
/// previous reduction. The optimizer waits for all reductions.
///
/// In a pipeline nothing is resharded after a backward pass and, as in torchtitan, nothing after a forward
/// pass unless the scenario asks for it. Gradients are kept whole; after the last backward pass of a chunk
/// all its groups are reduced, one after the other.
/// @source torch/distributed/pipelining/stage.py, PyTorch 2.11 (backward_maybe_with_nosync, _post_backward);
/// torchtitan/models/llama3/infra/parallelize.py at f4048f8e (fsdp_reshard_after_forward)
///
/// With CPU offload, shards are copied to the GPU before each gather, one by one, and gradient shards to the
/// host after each reduction on the same stream. The CPU waits for these copies.
///
/// Megatron-FSDP keeps shards in the formats of the optimizer and of the computation, gathers the latter in
/// place, 500 million elements ahead, and reduces and adds up the gradients of each micro-batch.
/// @source Megatron-Core at 367f664e, distributed/fsdp/src/megatron_fsdp/
class FsdpSync final : public Sync {
 public:
  /// @param scenario must outlive this. @pre its strategy is Fsdp
  explicit FsdpSync(const RankScenario& scenario);

  const Blocks* blocks() const override { return &groups_.blocks(); }
  bool keeps_gradients() const override { return false; }
  void before_step(TaskList& tasks) override;
  void before_micro_step(TaskList& tasks, MicroStep micro) override;
  void before_forward(TaskList& tasks, Module module) override;
  void after_forward(TaskList& tasks, Module module) override;
  void before_backward(TaskList& tasks, Module module) override;
  void after_backward(TaskList& tasks, Module module) override;
  void before_backward_pass(TaskList&, bool makes_gradients) override { makes_gradients_ = makes_gradients; }
  void after_backward_pass(TaskList& tasks) override;
  void before_optimizer(TaskList& tasks) override;
  void after_optimizer(TaskList& tasks) override;
  std::optional<OwnGradients> own_gradients() const override { return OwnGradients{memory().gradients}; }
  TaskId sum_norm(TaskList& tasks, TaskId norm) override;

  std::vector<Partition> groups() const override { return partitions_; }
  std::vector<Unit> take_units() override { return std::move(units_); }
  SyncMemory memory() const override;
  std::optional<HeldMemory> held(const StepMoment& moment) const override;

 private:
  /// The state of a group's parameters.
  struct Gathering {
    std::optional<TaskId> gathered{};  ///< the last task of its gather
    bool is_whole = false;             ///< copied out
    bool over_fewer = false;           ///< resharded over fewer ranks
    int passes = 0;                    ///< backward passes whose gradients are kept whole
  };

  void gather(TaskList& tasks, std::size_t group);
  void gather_ahead(TaskList& tasks, std::size_t group, bool is_forward);
  HeldMemory held_by_megatron(const StepMoment& moment, HeldMemory held) const;
  TaskId copy_out(TaskList& tasks, std::size_t group);
  TaskId copy_shard(TaskList& tasks, std::size_t group, Copy copy, std::optional<TaskId> after);
  void enter_forward(TaskList& tasks, std::size_t group);
  void leave_forward(TaskList& tasks, std::size_t group);
  void enter_backward(TaskList& tasks, std::size_t group);
  void leave_backward(TaskList& tasks, std::size_t group);
  void keep_on_stage(TaskList& tasks, std::size_t group);
  void reduce(TaskList& tasks, std::size_t group, Bytes moved);
  void add_to_unsharded(TaskList& tasks, std::size_t group, bool is_first);
  int resharded_over(std::size_t group) const;
  bool casts(std::size_t group) const;
  Bytes whole(std::size_t group, double width) const { return Bytes{width * groups_[group].padded}; }
  /// Size of trained parameters in the all-gather.
  Bytes trained(std::size_t group) const {
    const double in_fp8 = settings_.fp8_all_gather ? groups_[group].in_fp8 : 0;
    return Bytes{gathered_width_ * groups_[group].padded - (gathered_width_ - 1) * in_fp8};
  }
  /// Size of the all-gather; frozen parameters keep their format.
  Bytes gathered(std::size_t group) const { return trained(group) + groups_[group].frozen; }
  Bytes share(std::size_t group, double width) const { return whole(group, width) / shards_; }
  Bytes most_of_gathers() const;
  Bytes largest_reduction() const;

  const Fsdp& settings_;
  int micro_batches_;
  bool is_megatron_;
  bool is_pipelined_;     ///< the model is cut into stages, which keep gradients whole
  bool frees_gradients_;  ///< as soon as the optimizer has used them
  int shards_;            ///< number of ranks that share a group
  WrappedModel groups_;
  double kept_width_;  ///< bytes per element of the shards
  double gathered_width_;
  double gradient_width_;  ///< bytes per gradient element made by the backward pass
  double reduced_width_;
  Bytes always_gathered_{};            ///< what stays whole between a group's passes
  Bytes largest_gather_{};             ///< of all groups but the root
  std::vector<Partition> partitions_;  ///< by slot
  Slot shards_slot_{};
  Slot replicas_slot_{};
  Slot fewer_slot_{};
  MicroStep micro_;
  bool makes_gradients_ = true;  ///< whether the current pass makes gradients of parameters
  StreamId copy_in_{0};
  StreamId fewer_stream_{0};
  StreamId after_reduction_{0};
  StreamId replicas_{0};
  std::vector<Gathering> state_;    ///< by group
  std::vector<std::size_t> order_;  ///< in which groups ended their forward pass
  std::vector<std::size_t>
      whole_;                     ///< groups with complete gradients that wait for the end of a chunk's pass
  std::optional<TaskId> gate_;    ///< gathers issued from now on wait for it
  std::optional<TaskId> copied_;  ///< the last copy-out of the forward pass
  std::optional<TaskId> offloaded_;  ///< the last copy of a gradient shard to the host
  std::optional<TaskId> reduction_;  ///< the last reduction with the tasks after it
  double ahead_ = 0;                 ///< elements that Megatron-FSDP gathers ahead
  std::vector<TaskId> pending_;      ///< before the optimizer
  std::vector<Unit> units_;
};

}  // namespace gradway
