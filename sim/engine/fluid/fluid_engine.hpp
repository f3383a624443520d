// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/engine/engine.hpp"

namespace gradway {

/// The engine for graphs of any size, with gradway's own max-min solver and event queue.
class FluidEngine final : public Engine {
 public:
  Timeline run(const Platform& platform, const OpGraph& graph) const override {
    return run_with_progress(platform, graph, {});
  }
  Timeline run_with_progress(const Platform& platform, const OpGraph& graph,
                             const ProgressCallback& on_progress) const override;
};

}  // namespace gradway
