// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/engine/engine.hpp"

namespace gradway {

/// The engine for scale: our own max-min solver and event queue, no third-party code.
class FluidEngine final : public Engine {
 public:
  Timeline run(const Platform& platform, const OpGraph& graph) const override {
    return watched_run(platform, graph, {});
  }
  Timeline watched_run(const Platform& platform, const OpGraph& graph, const Watch& watch) const override;
};

}  // namespace gradway
