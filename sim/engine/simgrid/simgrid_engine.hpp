// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/engine/engine.hpp"

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

}  // namespace gradway
