// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/engine/engine.hpp"

namespace gradway {

/// The engine for trust: SimGrid's own max-min network model, run in a child process of its own.
class SimgridEngine final : public Engine {
 public:
  Timeline run(const Platform& platform, const OpGraph& graph) const override;
};

/// The fluid engine's solver and events, driven by SimGrid's clock as one of its models; in a child process
/// too. Not in the table of engines: it gives the dates of the fluid engine, to the bit.
class FluidModelEngine final : public Engine {
 public:
  Timeline run(const Platform& platform, const OpGraph& graph) const override;
};

}  // namespace gradway
