// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/engine.hpp"
#include "sim/engine/fluid/fluid_engine.hpp"
#include "sim/engine/simgrid/simgrid_engine.hpp"

namespace gradway {
namespace {

template <class Kind>
std::unique_ptr<Engine> make() {
  return std::make_unique<Kind>();
}

}  // namespace

const std::vector<EngineEntry>& engines() {
  static const std::vector<EngineEntry> table{
      {"simgrid", "SimGrid's own max-min model, in a child process; for small graphs", make<SimgridEngine>},
      {"fluid", "gradway's own max-min solver and event queue; for any size", make<FluidEngine>},
  };
  return table;
}

}  // namespace gradway
