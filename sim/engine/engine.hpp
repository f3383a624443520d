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

/// Runs op graphs. Resources are shared max-min fairly (weighted, with caps); a resource that a path names k
/// times is used k times over. Dates that differ by less than 1e-12 of themselves are one date. An engine has
/// no memory: one run cannot disturb the next.
class Engine {
 public:
  virtual ~Engine() = default;
  /// @throws SimulationError if the graph cannot finish, naming the ops that wait; or if the engine dies.
  virtual Timeline run(const Platform& platform, const OpGraph& graph) const = 0;
  /// The same; engines for long runs tell how much has ended.
  virtual Timeline run_with_progress(const Platform& platform, const OpGraph& graph,
                                     const ProgressCallback&) const {
    return run(platform, graph);
  }
};

/// A row of the table of engines: the program's help, its legal values and the tests all read it.
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

/// The engine of that name. "auto" is the fastest: engines differ by less than 1e-9, so nothing but the time
/// they take is to choose by. @pre the name is "auto" or in engines()
ChosenEngine choose_engine(std::string_view name);

}  // namespace gradway
