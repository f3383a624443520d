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
struct MomentOfStep {
  bool is_forward = true;
  bool is_loss = false;  ///< behind the model's forward pass and before its backward pass
  double ready = 0;      ///< of the gradients' elements, those that the backward pass has made
};

/// What a strategy that shards holds at a moment, beside what it keeps all the time.
struct HeldBySync {
  Bytes gradients{};
  Bytes gathered{};  ///< parameters that are whole, and what is on its way
};

/// What a strategy keeps in a GPU's memory beside the model and its activations.
struct MemoryOfSync {
  std::optional<Bytes> parameters{};  ///< all copies that a rank keeps; empty: all of the model
  std::optional<Bytes> frozen{};      ///< of parameters that nobody trains; empty: all of the model
  double optimizer_share = 1;         ///< of the states of all parameters
  Bytes gradients{};                  ///< with `held`: that live on behind the backward pass
  Bytes buckets{};
  Bytes first_buckets{};         ///< as in MemoryUse
  Bytes kept{};                  ///< from step to step: errors and factors of a hook
  Bytes after_backward{};        ///< more of that kind at the end of the backward pass: casts in flight
  bool holds_gradients = false;  ///< in its buckets: they need no memory of their own
};

/// The gradients that a rank's optimizer steps, in fp32.
struct OwnGradients {
  Bytes size{};
  bool has_norm = false;  ///< the strategy has computed it by itself
};

/// A part of the model that frameworks let others hook into: all of it, a block (sim/workload/blocks.hpp), or
/// a layer. A model that was profiled has no layers.
struct Module {
  enum class Kind : std::uint8_t { model, block, layer };
  Kind kind = Kind::model;
  std::int32_t index = 0;
  auto operator<=>(const Module&) const = default;
};

/// Ranks of equal colour are a communicator.
struct Partition {
  std::string name;
  std::function<int(int)> colour;  ///< of a rank; from 0, without gaps
  bool of_experts = false;         ///< of ranks that hold the same experts; else that hold the same part
};

/// Of the micro-steps that one optimizer step takes.
struct MicroStep {
  int number = 0;  ///< from 0
  bool is_last = true;
};

/// What a strategy adds to the model's step: it is called at each point at which frameworks let it in, in the
/// order of issue, and adds its tasks there. Each does nothing if it is not told otherwise.
class Sync {
 public:
  virtual ~Sync() = default;

  /// Before the first micro-step.
  virtual void before_step(TaskList&) {}
  virtual void before_micro_step(TaskList&, MicroStep) {}
  /// Before the first and after the last task of a part in each direction: the model outside, then its block,
  /// then its layer. The input copy stands before them all.
  virtual void before_forward(TaskList&, Module) {}
  virtual void after_forward(TaskList&, Module) {}
  virtual void before_backward(TaskList&, Module) {}
  virtual void after_backward(TaskList&, Module) {}
  /// The same for a layer whose forward pass runs again.
  virtual void before_recompute(TaskList&, Module) {}
  virtual void after_recompute(TaskList&, Module) {}
  /// Around the backward pass of a micro-batch, or a half of it, through a chunk of a rank of a pipeline.
  /// @param makes_gradients of parameters
  virtual void before_pass_back(TaskList&, [[maybe_unused]] bool makes_gradients) {}
  virtual void after_pass_back(TaskList&) {}
  /// So many gradients more are ready, in the order of `gradients_in_order`.
  /// @param of the task that made them
  /// @param is_last of the micro-steps before the optimizer's step
  virtual void gradients_ready(TaskList&, std::size_t, const Task&, bool) {}
  virtual void before_optimizer(TaskList&) {}
  virtual void after_optimizer(TaskList&) {}

  /// Empty: those of all parameters.
  virtual std::optional<OwnGradients> own_gradients() const { return std::nullopt; }
  /// Adds up the norm over the ranks that have other gradients. @return the last task
  virtual TaskId sum_norm(TaskList&, TaskId norm) { return norm; }

  /// Of the model, for a strategy that hooks into them; null: it does not.
  virtual const Blocks* blocks() const { return nullptr; }
  /// Whether the model's own gradients stay from micro-step to micro-step, so that each adds to them.
  virtual bool keeps_gradients() const { return true; }
  /// What it moves to add a gradient to the one that is there, over the gradient's bytes in fp32.
  virtual double moved_by_adding() const { return 3; }
  /// Communicators, in the order of slots.
  virtual std::vector<Partition> groups() const { return {}; }
  /// That the GPU makes before each kernel, because of the strategy.
  virtual Seconds longer_pause() const { return {}; }
  /// What travels together, for reports; called when all tasks are issued.
  virtual std::vector<Unit> take_units() { return {}; }
  virtual MemoryOfSync memory() const { return {}; }
  /// Empty: gradients are whole, each as soon as it is made, and nothing is gathered.
  virtual std::optional<HeldBySync> held(const MomentOfStep&) const { return std::nullopt; }

 protected:
  Sync() = default;
  Sync(const Sync&) = default;
  Sync& operator=(const Sync&) = default;
};

/// That of the job's strategy. What the scenario names must outlive it.
std::unique_ptr<Sync> make_sync(const RankScenario& scenario);

}  // namespace gradway
