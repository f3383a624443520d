// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "sim/plan/task_list.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// What a strategy keeps in a GPU's memory beside the model and its activations.
struct MemoryOfSync {
  Bytes buckets{};
  Bytes kept{};                  ///< from step to step: errors and factors of a hook
  Bytes after_backward{};        ///< more of that kind at the end of the backward pass: casts in flight
  bool holds_gradients = false;  ///< in its buckets: they need no memory of their own
};

/// What a strategy adds to the model's step: it is called at each point at which frameworks let it in, in the
/// order of issue, and adds its tasks there. Each does nothing if it is not told otherwise.
class Sync {
 public:
  virtual ~Sync() = default;

  /// Before the first micro-step.
  virtual void before_step(TaskList&) {}
  /// Before the first task of a layer. A model that was profiled has no layers.
  virtual void before_forward(TaskList&, std::int32_t) {}
  virtual void before_backward(TaskList&, std::int32_t) {}
  /// So many gradients more are ready, in the order of `gradients_in_order`.
  /// @param of the task that made them
  /// @param is_last of the micro-steps before the optimizer's step
  virtual void gradients_ready(TaskList&, std::size_t, const Task&, bool) {}
  virtual void before_optimizer(TaskList&) {}

  /// That the GPU makes before each kernel, because of the strategy.
  virtual Seconds longer_pause() const { return {}; }
  /// What travels together, for reports; called when all tasks are issued.
  virtual std::vector<Unit> take_units() { return {}; }
  virtual MemoryOfSync memory() const { return {}; }

 protected:
  Sync() = default;
  Sync(const Sync&) = default;
  Sync& operator=(const Sync&) = default;
};

/// That of the job's strategy. @param scenario must outlive it
std::unique_ptr<Sync> make_sync(const Scenario& scenario);

}  // namespace gradway
