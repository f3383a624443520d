// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/engine/engine.hpp"
#include "sim/engine/simgrid/answer.hpp"

namespace gradway {

/// How long a child may take before it counts as hanging. Small graphs, which the engine is for, take seconds
/// and a step of 4,096 GPUs unfolded minutes: this ends only what would not end by itself.
inline constexpr Seconds most_time_of_simgrid{3600};

/// The engine for trust: SimGrid's own max-min network model, run in a child process of its own.
class SimgridEngine : public Engine {
 public:
  explicit SimgridEngine(Seconds most_time = most_time_of_simgrid)
      : SimgridEngine{SimgridModel::network, most_time} {}
  Timeline run(const Platform& platform, const OpGraph& graph) const override;

 protected:
  SimgridEngine(SimgridModel model, Seconds most_time) : model_{model}, most_time_{most_time} {}

 private:
  SimgridModel model_;
  Seconds most_time_;
};

/// The fluid engine's solver and events, driven by SimGrid's clock as one of its models; in a child process
/// too. Not in the table of engines: it gives the dates of the fluid engine, to the bit.
class FluidModelEngine final : public SimgridEngine {
 public:
  FluidModelEngine() : SimgridEngine{SimgridModel::fluid, most_time_of_simgrid} {}
};

}  // namespace gradway
