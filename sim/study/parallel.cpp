// SPDX-License-Identifier: Apache-2.0
#include "sim/study/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace gradway {

void for_each_in_parallel(std::size_t count, int threads, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::mutex failing;
  std::size_t failed = count;  // the lowest index that failed
  std::exception_ptr failure;
  const auto take_turns = [&] {
    for (auto i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        next = count;  // all lower indices were taken before, so that the lowest one that fails is found
        const std::lock_guard lock{failing};
        if (i < failed) failure = std::current_exception();
        failed = std::min(failed, i);
      }
    }
  };
  const auto most = static_cast<std::size_t>(threads > 0 ? threads : hardware_threads());
  const auto helpers = std::min(count, most) - (count > 0 ? 1 : 0);
  {
    std::vector<std::jthread> workers;
    try {
      for (std::size_t i = 0; i < helpers; ++i) workers.emplace_back(take_turns);
    } catch (const std::system_error&) {
      // No more threads can be created (memory, a limit of processes): the existing ones do all the work.
    }
    take_turns();
  }
  if (failure) std::rethrow_exception(failure);
}

int hardware_threads() {
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace gradway
