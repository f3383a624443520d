// SPDX-License-Identifier: Apache-2.0
#include "calibration/probe/gate.hpp"

namespace gradway::probe {
namespace {

constexpr std::uint64_t longest_wait_ns = 5'000'000'000;

__device__ std::uint64_t nanoseconds() {
  std::uint64_t time = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
  return time;
}

__global__ void wait_for(const volatile std::uint32_t* flag, std::uint32_t round) {
  const auto begin = nanoseconds();
  // Rounds are compared as distances: they may wrap around.
  while (static_cast<std::int32_t>(*flag - round) < 0 && nanoseconds() - begin < longest_wait_ns) {
  }
}

__global__ void spin_for(std::uint64_t time_ns) {
  const auto begin = nanoseconds();
  while (nanoseconds() - begin < time_ns) {
  }
}

}  // namespace

Gate::Gate() : flag_{sizeof(std::uint32_t)} {
  *static_cast<volatile std::uint32_t*>(flag_.get()) = 0;
}

void Gate::close(const Stream& stream) {
  wait_for<<<1, 1, 0, stream.get()>>>(static_cast<const volatile std::uint32_t*>(flag_.get()), ++round_);
  check(cudaGetLastError(), "launching a gate");
}

void Gate::open() {
  *static_cast<volatile std::uint32_t*>(flag_.get()) = round_;
}

void spin(const Stream& stream, Seconds time) {
  spin_for<<<1, 1, 0, stream.get()>>>(static_cast<std::uint64_t>(time.value() * 1e9));
  check(cudaGetLastError(), "launching a kernel of known length");
}

}  // namespace gradway::probe
