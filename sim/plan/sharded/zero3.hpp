// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "sim/plan/sync.hpp"

namespace gradway {

/// DeepSpeed's ZeRO stage 3. @source deepspeed/runtime/zero/partitioned_param_coordinator.py, stage3.py, 0.19
///
/// Each module gathers its own parameters before use, in both directions and when it is recomputed, and
/// prefetches those that come next in the trace of the step before, until the prefetch bucket or the limit of
/// live parameters is full. Small parameters stay gathered; others are released after use unless they are
/// used again soon. Gradients fill a bucket, which is reordered, divided and reduce-scattered. A profile has
/// blocks instead of modules.
///
/// ZeRO++: a part that is released for the first time in a step leaves a second copy on fewer ranks, from
/// which it is gathered until the optimizer's step. Weights are gathered in int8, gradients reduced in int4
/// by two all-to-alls, in a node and between nodes.
class Zero3Sync final : public Sync {
 public:
  /// @param scenario must outlive this. @pre its strategy is Zero of stage 3
  explicit Zero3Sync(const RankScenario& scenario);

  const Blocks* blocks() const override { return &blocks_; }
  bool keeps_gradients() const override { return false; }
  void before_step(TaskList& tasks) override;
  void before_micro_step(TaskList& tasks, MicroStep micro) override;
  void before_forward(TaskList& tasks, Module module) override;
  void after_forward(TaskList& tasks, Module module) override;
  void before_backward(TaskList& tasks, Module module) override;
  void after_backward(TaskList& tasks, Module module) override;
  void before_recompute(TaskList& tasks, Module module) override;
  void after_recompute(TaskList& tasks, Module module) override;
  void before_optimizer(TaskList& tasks) override;
  void after_optimizer(TaskList& tasks) override;
  std::vector<Partition> groups() const override;
  std::optional<OwnGradients> own_gradients() const override {
    return OwnGradients{Bytes{fp32_bytes * parameters_ / ranks_}, true};
  }
  std::vector<Unit> take_units() override { return std::move(units_); }
  SyncMemory memory() const override;
  std::optional<HeldMemory> held(const StepMoment& moment) const override;

 private:
  /// Parameters that are used together.
  struct Part {
    Unit gradients;       ///< of all its parameters
    double elements = 0;  ///< gathered and released
    double all = 0;       ///< with parameters that stay gathered
    double trained = 0;   ///< trained elements
    int tensors = 0;      ///< gathered and released
    std::optional<TaskId> gathered{};
    bool has_copy = false;  ///< the second copy holds it
  };
  /// A communicator besides that of all ranks.
  struct OtherRanks {
    int size = 1;
    Slot slot{};
    StreamId stream{communicator_stream};
  };

  void add_tensor(Part& model_part, double elements, double& of_kind, double& of_kind_stays);
  void find_trace(const RankScenario& scenario);
  std::optional<std::size_t> part_of(Module module) const;
  void gather(TaskList& tasks, std::size_t index);
  TaskId pack(TaskList& tasks, std::size_t index, int ranks);
  std::optional<TaskId> unpack(TaskList& tasks, std::size_t index, TaskId gathered);
  void from_host(TaskList& tasks, std::size_t index, Bytes shard);
  void use(TaskList& tasks, Module module);
  void prefetch(TaskList& tasks);
  bool is_used_soon(std::size_t index) const;
  void release(TaskList& tasks, std::size_t index);
  void add_gradients(TaskList& tasks, std::size_t index);
  void flush(TaskList& tasks);
  TaskId reduce_in_int4(TaskList& tasks, const Unit::Gradient& gradient, TaskId after);

  const Zero& settings_;
  const Model& model_;
  int ranks_;
  OtherRanks copy_;    ///< ranks that hold a second copy of the parameters together
  OtherRanks local_;   ///< ranks of a node; more than one if gradients are reduced in int4
  OtherRanks global_;  ///< ranks with the same place in their nodes
  double width_;
  bool is_fp16_;  ///< that DeepSpeed's quantisation reads and writes
  double kept_;   ///< bytes of a parameter in the optimizer
  double reduced_;
  Seconds cast_;  ///< cast of the rank's own parameters on the CPU, with offloaded states
  Blocks blocks_;
  bool by_block_;
  std::vector<std::int32_t> part_of_layer_;  ///< by layer, or by block with one more entry for the root
  std::vector<Part> parts_;                  ///< in the order of the forward pass
  std::vector<std::size_t> trace_;           ///< parts in the order in which a micro-step uses them
  std::size_t step_ = 0;                     ///< next index of the trace
  double stays_ = 0;                         ///< elements that stay gathered
  double parameters_ = 0;                    ///< trained elements
  double frozen_ = 0;                        ///< frozen elements, in units of the trained elements' width
  double frozen_stays_ = 0;
  double live_ = 0;
  MicroStep micro_;
  StreamId gathers_{0};
  StreamId reductions_{0};
  std::optional<TaskId> gate_;
  std::deque<TaskId> fetching_;  ///< gathers that the CPU has not waited for
  std::deque<TaskId> reducing_;
  Unit open_;
  double filled_ = 0;
  std::optional<TaskId> last_reduction_;
  std::vector<Unit> units_;
};

}  // namespace gradway
