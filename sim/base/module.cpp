// SPDX-License-Identifier: Apache-2.0
#include "sim/base/module.hpp"

#include <dlfcn.h>

#include <fmt/format.h>

#include "sim/base/problem.hpp"

namespace gradway {

void* function_of(const LoadableModule& module) {
  // Loading a file again gives the same handle.
  void* const handle = ::dlopen(module.file, RTLD_NOW | RTLD_LOCAL);
  void* const function = handle == nullptr ? nullptr : ::dlsym(handle, module.function);
  if (function != nullptr) return function;
  throw SimulationError{fmt::format(
      "{} cannot be loaded: {}\n"
      "  hint: '{}' must be where the build or 'cmake --install' put it, and {} must be installed{}",
      module.purpose, ::dlerror(), module.file, module.library, module.alternative)};
}

}  // namespace gradway
