// SPDX-License-Identifier: Apache-2.0
#include "sim/base/module.hpp"

#include <dlfcn.h>

namespace gradway {

void* module_function(const char* file, const char* function) {
  // Loading a file again gives the same handle.
  void* const module = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
  return module == nullptr ? nullptr : ::dlsym(module, function);
}

}  // namespace gradway
