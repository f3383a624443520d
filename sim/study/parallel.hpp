// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

namespace gradway {

/// Calls `work(i)` for each i below `count`, on up to `threads` threads at once, in order of i as threads get
/// free. Returns when all have returned. @pre `work` throws nothing and may run on several threads at once;
/// threads >= 1
void for_each_in_parallel(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

/// As many threads as the machine runs at once.
int hardware_threads();

}  // namespace gradway
