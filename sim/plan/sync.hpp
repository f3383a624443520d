// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/compute/rank_scenario.hpp"
#include "sim/plan/task_list.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway {

/// A moment of a micro-step.
struct StepMoment {
  bool is_forward = true;
  bool is_loss = false;  ///< between the forward and the backward pass of the model
  double ready = 0;      ///< share of gradient elements that the backward pass has made
};

/// Memory that a sharding strategy holds at a moment, in addition to SyncMemory.
struct HeldMemory {
  Bytes gradients{};
  Bytes gathered{};   ///< gathered parameters, including gathers in progress
  Bytes of_others{};  ///< part of both that other streams than that of the kernels have allocated
};

/// Memory of a strategy besides the model and its activations.
struct SyncMemory {
  std::optional<Bytes> parameters{};  ///< all copies on a rank; if empty, the whole model
  std::optional<Bytes> frozen{};      ///< parameters that are not trained; if empty, the whole model's
  double optimizer_share = 1;         ///< share of the states of all parameters
  Bytes gradients{};                  ///< with `held`: gradients that live on after the backward pass
  Bytes buckets{};
  Bytes first_buckets{};   ///< of DDP, which exist beside `buckets` in one step
  Bytes loading{};         ///< all memory of the model while it is made, if that is not the sharded model
  Bytes saving{};          ///< gathered while a checkpoint is written
  Bytes of_others{};       ///< the most that other streams than that of the kernels allocate
  Bytes kept_by_others{};  ///< part of `gradients` that they have allocated
  Bytes kept{};            ///< from step to step: errors and factors of a communication hook
  Bytes after_backward{};  ///< additional memory of hooks at the end of the backward pass: casts in flight
  bool holds_gradients = false;  ///< gradients live in the buckets and need no memory of their own
  Bytes tables{};                ///< a rank's share of the embedding tables
  Bytes table_states{};          ///< and the states of their optimizer
  Bytes exchanged_rows{};        ///< sums of looked-up rows: buffers of their exchange
};

/// The gradients that a rank's optimizer steps, in fp32.
struct OwnGradients {
  Bytes size{};
  bool has_norm = false;  ///< whether the strategy has computed their norm
};

/// A part of the model with framework hooks: the whole model, a block (sim/workload/blocks.hpp) or a layer. A
/// profiled model has no layers.
struct Module {
  enum class Kind : std::uint8_t { model, block, layer };
  Kind kind = Kind::model;
  std::int32_t index = 0;
  auto operator<=>(const Module&) const = default;
};

/// A partition of ranks into communicators. Ranks of equal colour form one.
struct Partition {
  std::string name;
  std::function<int(int)> colour;  ///< of a rank; from 0 without gaps
  bool of_experts = false;  ///< among ranks that hold the same experts, instead of the same model shard
};

/// One of the micro-steps of an optimizer step.
struct MicroStep {
  int number = 0;  ///< from 0
  bool is_last = true;
};

/// The communication of a strategy. Its hooks are called at the points at which frameworks call theirs, in
/// the order of issue, and add tasks. By default a hook does nothing.
class Sync {
 public:
  virtual ~Sync() = default;

  /// Before the first micro-step.
  virtual void before_step(TaskList&) {}
  virtual void before_micro_step(TaskList&, MicroStep) {}
  /// Before the first and after the last task of a module in each direction, from the outside in: model,
  /// block, layer. The input copy comes before all of them.
  virtual void before_forward(TaskList&, Module) {}
  virtual void after_forward(TaskList&, Module) {}
  virtual void before_backward(TaskList&, Module) {}
  virtual void after_backward(TaskList&, Module) {}
  /// Before and after a layer whose forward pass is recomputed.
  virtual void before_recompute(TaskList&, Module) {}
  virtual void after_recompute(TaskList&, Module) {}
  /// Before and after the backward pass of a micro-batch, or a half of it, through a chunk of a pipeline
  /// rank.
  /// @param makes_gradients whether it makes gradients of parameters
  virtual void before_backward_pass(TaskList&, [[maybe_unused]] bool makes_gradients) {}
  virtual void after_backward_pass(TaskList&) {}
  /// More gradients are ready, in the order of `gradients_in_order`. Arguments: their number, the task that
  /// made them, and whether this is the last micro-step before the optimizer's step.
  virtual void gradients_ready(TaskList&, std::size_t, const Task&, bool) {}
  virtual void before_optimizer(TaskList&) {}
  virtual void after_optimizer(TaskList&) {}

  /// Empty if the rank steps all parameters.
  virtual std::optional<OwnGradients> own_gradients() const { return std::nullopt; }
  /// Adds up the norm over ranks that hold different gradients. @return the last task
  virtual TaskId sum_norm(TaskList&, TaskId norm) { return norm; }

  /// Blocks of the model, if the strategy hooks into them; else null.
  virtual const Blocks* blocks() const { return nullptr; }
  /// Whether gradients stay allocated between micro-steps, so that each micro-step adds to them.
  virtual bool keeps_gradients() const { return true; }
  /// Memory traffic of adding a gradient to the accumulated one, relative to its size in fp32.
  virtual double accumulation_traffic() const { return 3; }
  /// Partitions into communicators, in order of slot.
  virtual std::vector<Partition> groups() const { return {}; }
  /// Additional pause of the GPU before each kernel, caused by the strategy.
  virtual Seconds extra_pause() const { return {}; }
  /// Gradients that are communicated together, for reports. Called after all tasks are issued.
  virtual std::vector<Unit> take_units() { return {}; }
  virtual SyncMemory memory() const { return {}; }
  /// Empty if gradients are whole, each from when it is made, and nothing is gathered.
  virtual std::optional<HeldMemory> held(const StepMoment&) const { return std::nullopt; }

 protected:
  Sync() = default;
  Sync(const Sync&) = default;
  Sync& operator=(const Sync&) = default;
};

/// Makes the communication of the job's strategy. The members of the scenario must outlive it.
std::unique_ptr<Sync> make_sync(const RankScenario& scenario);

}  // namespace gradway
