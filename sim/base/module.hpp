// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gradway {

/// A function of a module: a shared library that is loaded by the first call, because the libraries that it
/// brings along take longer to load than the rest of the program. It is never unloaded.
/// @param file found by the program's RUNPATH if it has no folder
/// @return null if the module cannot be loaded or lacks the function; `dlerror()` then says why
void* module_function(const char* file, const char* function);

}  // namespace gradway
