// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/progress.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/graph/op_graph.hpp"
#include "sim/platform/platform.hpp"

namespace gradway {

/// Runs op graphs. Resources are shared max-min fairly, with weights and caps. A path that names a resource k
/// times uses it k-fold. Dates that differ by less than 1e-12 of their value count as one date. Engines are
/// stateless.
class Engine {
 public:
  virtual ~Engine() = default;
  /// @throws SimulationError if the graph cannot complete (the message names waiting ops) or the engine dies.
  virtual Timeline run(const Platform& platform, const OpGraph& graph) const = 0;
  /// Same as `run`; engines for long runs report the share of ops that have ended.
  virtual Timeline run_with_progress(const Platform& platform, const OpGraph& graph,
                                     const ProgressCallback&) const {
    return run(platform, graph);
  }
};

/// A row of the table of engines, which defines the values of --engine, their help and the engines under
/// test.
struct EngineEntry {
  std::string_view name;
  std::string_view help;
  std::unique_ptr<Engine> (*make)();
};

const std::vector<EngineEntry>& engines();

struct ChosenEngine {
  std::string_view name;
  std::unique_ptr<Engine> engine;
};

/// The engine of that name. "auto" chooses the fastest, because engines agree to 1e-9.
/// @pre the name is "auto" or in engines()
ChosenEngine choose_engine(std::string_view name);

}  // namespace gradway
