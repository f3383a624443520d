// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/engine.hpp"

#include <algorithm>
#include <vector>

#include "sim/base/contract.hpp"
#include "sim/engine/fluid/fluid_engine.hpp"
#include "sim/engine/simgrid/simgrid_engine.hpp"

namespace gradway {

namespace {

template <class Kind>
std::unique_ptr<Engine> make() {
  return std::make_unique<Kind>();
}

/// "auto" gives SimGrid graphs of up to this many ops times flows at once: its work at an event grows with
/// the flows in flight. Measured on one core: 1 to 3 ms for training steps at this limit (2000 ops, 25
/// streams), 0.04 s for the worst graph found (220 flows of different sizes on paths that all cross).
constexpr std::size_t small_graph = 50'000;

/// How many flows can be under way at once, at most: one a queue, and all that are in none.
std::size_t flows_at_once(const OpGraph& graph) {
  std::vector<bool> used(graph.queues().size(), false);
  std::size_t flows = 0;
  for (const Op& op : graph.ops()) {
    if (op.kind != OpKind::flow) continue;
    if (op.queue == Op::absent)
      ++flows;
    else
      used[op.queue] = true;
  }
  return flows + static_cast<std::size_t>(std::count(used.begin(), used.end(), true));
}

bool is_small(const OpGraph& graph) {
  return graph.size() * std::max<std::size_t>(1, flows_at_once(graph)) <= small_graph;
}

}  // namespace

const std::vector<EngineEntry>& engines() {
  static const std::vector<EngineEntry> table{
      {"simgrid", "SimGrid's own max-min model, in a child process; for small graphs", make<SimgridEngine>},
      {"fluid", "gradway's own max-min solver and event queue; for any size", make<FluidEngine>},
  };
  return table;
}

ChosenEngine choose_engine(std::string_view name, const OpGraph& graph) {
  if (name == "auto") name = is_small(graph) ? "simgrid" : "fluid";
  const auto entry = std::find_if(engines().begin(), engines().end(),
                                  [&](const EngineEntry& candidate) { return candidate.name == name; });
  expects(entry != engines().end(), "the engine's name is 'auto' or in the table of engines");
  return {entry->name, entry->make()};
}

}  // namespace gradway
