// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "sim/plan/sync.hpp"

namespace gradway {

/// DeepSpeed's ZeRO stages 1 and 2. @source deepspeed/runtime/zero/stage_1_and_2.py, 0.19
///
/// Each rank keeps all parameters and steps a shard in fp32. Each gradient is copied into a bucket. A full
/// bucket is divided, flattened and all-reduced, and each rank keeps its shard. Stage 2 does so in every
/// micro-step, stage 1 in the last one. With overlap_comm one bucket is reduced during the backward pass;
/// without it, stage 2 waits for each bucket and stage 1 starts after the backward pass. After the step all
/// parameters are gathered, without overlap.
///
/// With `grad_accum_dtype: fp32` (deepspeed/runtime/bf16_optimizer.py) each backward pass makes new
/// gradients. A cast and an addition for each add them to the fp32 gradients, which are kept, reduced and
/// stepped.
class ZeroSync final : public Sync {
 public:
  /// @param scenario must outlive this. @pre its strategy is Zero of stage 1 or 2
  explicit ZeroSync(const RankScenario& scenario);

  void before_step(TaskList& tasks) override;
  void gradients_ready(TaskList& tasks, std::size_t count, const Task& task, bool is_last) override;
  void after_backward(TaskList& tasks, Module module) override;
  void before_optimizer(TaskList& tasks) override;
  void after_optimizer(TaskList& tasks) override;
  std::optional<OwnGradients> own_gradients() const override {
    return OwnGradients{Bytes{fp32_bytes * parameters_ / ranks_}, true};
  }
  bool keeps_gradients() const override { return settings_.stage == 1 && !settings_.adds_in_fp32(); }
  double accumulation_traffic() const override { return 3 * width_ / fp32_bytes; }
  std::vector<Unit> take_units() override { return std::move(units_); }
  SyncMemory memory() const override;
  std::optional<HeldMemory> held(const StepMoment& moment) const override;

 private:
  void add(TaskList& tasks, const Unit::Gradient& gradient);
  void flush(TaskList& tasks);
  void reduce(TaskList& tasks);

  const Zero& settings_;
  int ranks_;
  double width_;      ///< bytes of a parameter and of its gradient
  double kept_;       ///< bytes of a parameter in the optimizer
  double gradients_;  ///< bytes of an accumulated gradient
  double reduced_;    ///< bytes of a communicated gradient
  double parameters_;
  Seconds cast_;  ///< cast of the rank's own parameters on the CPU, with offloaded states
  std::vector<Unit::Gradient> order_;  ///< in which gradients become ready
  StreamId reduction_stream_{0};
  std::size_t next_ = 0;
  std::size_t ready_ = 0;  ///< gradients of the last micro-step
  Unit open_;
  double filled_ = 0;  ///< elements in the open bucket
  std::optional<TaskId> last_;
  std::vector<Unit> units_;
};

// With optimizer states in host memory (offload_optimizer), each rank's own gradients are copied to the host
// as they are reduced, and its own parameters are copied back in the model's format after the CPU has stepped
// and cast them.
// @source deepspeed/runtime/zero/stage_1_and_2.py, stage3.py, 0.19
// @param width bytes of a parameter of the model; no cast if it equals the width of the master copy
Seconds time_of_cast(const RankScenario& scenario, double width);
TaskId own_to_host(TaskList& tasks, StreamId stream, Bytes size, TaskId after, std::int32_t unit);
TaskId own_from_host(TaskList& tasks, double elements, double width, Seconds cast);

/// The norm of all gradients, for clipping and the check for overflow: each rank's own norm, an all-reduce of
/// one number, and a wait of the CPU that reads it.
void reduce_norm(TaskList& tasks, Bytes gradients, int ranks);

}  // namespace gradway
