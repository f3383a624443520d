// SPDX-License-Identifier: Apache-2.0
// What the program takes from its machine, for WebAssembly: one thread, 4 GB of memory, no SimGrid.
#include "sim/base/memory_limit.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/fluid/fluid_engine.hpp"
#include "sim/study/parallel.hpp"

namespace gradway {

Bytes memory_limit() {
  return Bytes{4294967296.0};
}

namespace {

std::unique_ptr<Engine> make_fluid() {
  return std::make_unique<FluidEngine>();
}

}  // namespace

const std::vector<EngineEntry>& engines() {
  static const std::vector<EngineEntry> table{
      {"fluid", "gradway's own max-min solver and event queue; for any size", make_fluid},
  };
  return table;
}

void for_each_in_parallel(std::size_t count, int, const std::function<void(std::size_t)>& work) {
  for (std::size_t i = 0; i < count; ++i) work(i);
}

int hardware_threads() {
  return 1;
}

}  // namespace gradway
