// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

namespace gradway {

/// Calls `work(i)` for each i below `count` on up to `threads` threads at a time, in order of i as threads
/// become free. Returns when all calls have returned. After a call that throws no other begins.
/// @throws what the call with the lowest i threw
/// @param threads 0: one per hardware thread
/// @pre `work` is safe to call from several threads
void for_each_in_parallel(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

using ForEach = std::function<void(std::size_t, const std::function<void(std::size_t)>&)>;

/// `for_each_in_parallel` on up to `threads` threads.
inline ForEach in_parallel(int threads) {
  return [threads](std::size_t count, const std::function<void(std::size_t)>& work) {
    for_each_in_parallel(count, threads, work);
  };
}

/// Number of hardware threads of this machine, at least 1.
int hardware_threads();

}  // namespace gradway
