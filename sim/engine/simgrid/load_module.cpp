// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/simgrid/load_module.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "sim/base/problem.hpp"

namespace gradway {
namespace {

[[noreturn]] void refuse() {
  throw SimulationError{
      fmt::format("the engine 'simgrid' cannot be loaded: {}\n"
                  "  hint: '{}' must stand where the build or 'cmake --install' put it, and libsimgrid be "
                  "installed; '--engine fluid' needs neither and gives the same times to 1e-9",
                  ::dlerror(), simgrid_module)};
}

}  // namespace

AnswerFromSimgrid* load_simgrid(const char* file) {
  // Never unloaded: SimGrid keeps global state. Loading a file again gives the same handle.
  void* const module = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) refuse();
  void* const function = ::dlsym(module, simgrid_function);
  if (function == nullptr) refuse();
  return reinterpret_cast<AnswerFromSimgrid*>(function);
}

}  // namespace gradway
