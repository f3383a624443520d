// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "sim/plan/sync.hpp"

namespace gradway {

/// DeepSpeed's ZeRO stages 1 and 2. @source deepspeed/runtime/zero/stage_1_and_2.py, 0.19
///
/// Parameters are whole on each rank, the optimizer steps a slice in fp32. Each gradient is copied into a
/// bucket; a full bucket is divided, copied flat and all-reduced, of which each rank keeps its slice. Stage 2
/// does so in every micro-step, stage 1 at the last. With overlap_comm one bucket is under way beside the
/// backward pass; without, stage 2 waits for each and stage 1 begins after the backward pass. After the step
/// all parameters are gathered, beside nothing.
///
/// With `grad_accum_dtype: fp32` (deepspeed/runtime/bf16_optimizer.py) each backward pass makes gradients
/// anew; behind it a cast and an addition for each add them to those in fp32, which stay, are reduced and
/// stepped.
class ZeroSync final : public Sync {
 public:
  /// @param scenario must outlive this. @pre its strategy is Zero of stage 1 or 2
  explicit ZeroSync(const RankScenario& scenario);

  void before_step(TaskList& tasks) override;
  void gradients_ready(TaskList& tasks, std::size_t count, const Task& of, bool is_last) override;
  void after_backward(TaskList& tasks, Module module) override;
  void before_optimizer(TaskList& tasks) override;
  void after_optimizer(TaskList& tasks) override;
  std::optional<OwnGradients> own_gradients() const override {
    return OwnGradients{Bytes{fp32_bytes * parameters_ / ranks_}, true};
  }
  bool keeps_gradients() const override { return settings_.stage == 1 && !settings_.adds_in_fp32(); }
  double moved_by_adding() const override { return 3 * width_ / fp32_bytes; }
  std::vector<Unit> take_units() override { return std::move(units_); }
  MemoryOfSync memory() const override;
  std::optional<HeldBySync> held(const MomentOfStep& moment) const override;

 private:
  void add(TaskList& tasks, const Unit::Gradient& gradient);
  void flush(TaskList& tasks);
  void reduce(TaskList& tasks);

  const Zero& settings_;
  int ranks_;
  double width_;      ///< bytes of a parameter and of its gradient
  double kept_;       ///< bytes of a parameter that the optimizer steps
  double gradients_;  ///< bytes of a gradient that is kept
  double reduced_;    ///< bytes of a gradient on the way
  double parameters_;
  Seconds cast_;                       ///< of own parameters on the CPU, with offloaded states
  std::vector<Unit::Gradient> order_;  ///< in which gradients get ready
  StreamId beside_{0};
  std::size_t next_ = 0;
  std::size_t ready_ = 0;  ///< gradients of the last micro-step
  Unit open_;
  double filled_ = 0;  ///< elements in the open bucket
  std::optional<TaskId> last_;
  std::vector<Unit> units_;
};

// With the optimizer's states in host memory (offload_optimizer): each rank's own gradients go there as they
// are reduced, its own parameters come back in the model's format after the CPU has stepped and cast them.
// @source deepspeed/runtime/zero/stage_1_and_2.py, stage3.py, 0.19
/// @param width bytes of a parameter of the model; as wide as the master is no cast
Seconds time_of_cast(const RankScenario& scenario, double width);
TaskId own_to_host(TaskList& tasks, StreamId stream, Bytes size, TaskId after, std::int32_t unit);
TaskId own_from_host(TaskList& tasks, double elements, double width, Seconds cast);

/// The norm of all gradients, from which clipping and the check for overflow follow: each rank's own, one
/// all-reduce of a number, and the CPU waits to read it.
void reduce_norm(TaskList& tasks, Bytes gradients, int ranks);

}  // namespace gradway
