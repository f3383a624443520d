// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/engine/engine.hpp"
#include "sim/engine/simgrid/answer.hpp"

namespace gradway {

/// Time after which a silent child is killed. Small graphs take seconds, and a step of 4,096 GPUs without
/// folding takes minutes, so this ends only a child that hangs.
inline constexpr Seconds simgrid_timeout{3600};

/// The engine for verification: SimGrid's own max-min network model, run in a child process.
class SimgridEngine final : public Engine {
 public:
  explicit SimgridEngine(Seconds timeout = simgrid_timeout) : timeout_{timeout} {}
  Timeline run(const Platform& platform, const OpGraph& graph) const override;

 private:
  Seconds timeout_;
};

/// The function of the module that contains SimGrid. The module is loaded by the first call, because SimGrid
/// and its 13 libraries take ten times as long to load as everything else at start.
/// @param file found by the program's RUNPATH if it has no folder
/// @throws SimulationError if the module cannot be loaded
AnswerFromSimgrid* load_simgrid(const char* file = simgrid_module);

}  // namespace gradway
