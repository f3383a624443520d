// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gradway {

/// A shared library with one function, which the program loads when it first calls that, because the
/// libraries that it brings along take longer to load than the rest of the program. It is never unloaded. No
/// exceptions cross its border, as program and module each have their own copy of the types.
struct LoadableModule {
  const char* file;              ///< found by the program's RUNPATH if it has no folder
  const char* function;          ///< its name in the file
  const char* purpose;           ///< in messages, such as "the engine 'simgrid'"
  const char* library;           ///< must be installed for it
  const char* alternative = "";  ///< end of the hint, such as "; '--engine fluid' needs neither"
};

/// The function of a module. @return not null @throws SimulationError if the module cannot be loaded
void* function_of(const LoadableModule& module);

}  // namespace gradway
