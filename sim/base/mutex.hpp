// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

namespace gradway {

#if defined(__wasm__)
/// WebAssembly runs one thread, and its standard library has no mutex.
struct Mutex {
  void lock() {}
  void unlock() {}
};
#else
using Mutex = std::mutex;
#endif

}  // namespace gradway
