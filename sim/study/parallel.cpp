// SPDX-License-Identifier: Apache-2.0
#include "sim/study/parallel.hpp"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace gradway {

namespace {

/// One run after the other needs as much memory: what one gives back is kept for the next. Else a fifth of
/// the time of a sweep goes into getting pages from the kernel anew.
void keep_memory() {
  constexpr int most = 1 << 25;  // that the C library takes for a threshold
  mallopt(M_MMAP_THRESHOLD, most);
  mallopt(M_TRIM_THRESHOLD, 8 * most);
}

}  // namespace

void for_each_in_parallel(std::size_t count, int threads, const std::function<void(std::size_t)>& work) {
  if (count > 1) keep_memory();
  std::atomic<std::size_t> next = 0;
  const auto take_turns = [&] {
    for (auto i = next++; i < count; i = next++) work(i);
  };
  const auto helpers = std::min(count, static_cast<std::size_t>(threads)) - (count > 0 ? 1 : 0);
  std::vector<std::jthread> others;
  try {
    for (std::size_t i = 0; i < helpers; ++i) others.emplace_back(take_turns);
  } catch (const std::system_error&) {
    // No thread more can be had (memory, a limit on processes): those that there are do it all.
  }
  take_turns();
}

int hardware_threads() {
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace gradway
