// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto/work/launch_work.hpp"

#include <algorithm>

namespace gradway {
namespace {

constexpr int warp = 32;
constexpr int register_unit = 256;  // Registers of a warp are allocated in units of this size.
constexpr int quarters = 4;         // Parts of a multiprocessor, each with its share of the registers.
constexpr int shared_unit = 128;
constexpr int shared_of_cuda = 1024;

int round_up(int value, int unit) {
  return (value + unit - 1) / unit * unit;
}

int most_blocks(int capability) {
  switch (capability) {
    case 75:
    case 86:
    case 87:
      return 16;
    case 89:
    case 120:
      return 24;
    default:
      return 32;
  }
}

}  // namespace

int blocks_per_multiprocessor(const TracedActivity& kernel, const DeviceLimits& limits) {
  if (limits.threads == 0 || limits.registers == 0 || limits.shared == 0 || kernel.threads == 0) return 0;
  const int warps = round_up(kernel.threads, warp) / warp;
  int blocks = std::min(most_blocks(limits.capability), limits.threads / (warps * warp));
  if (kernel.registers > 0) {
    const int registers = round_up(kernel.registers * warp, register_unit);
    const int warps_that_fit = limits.registers / quarters / registers * quarters;
    blocks = std::min(blocks, warps_that_fit / warps);
  }
  const int reserved = limits.capability >= 80 ? shared_of_cuda : 0;
  const int shared = round_up(kernel.shared + reserved, shared_unit);
  if (shared > 0) blocks = std::min(blocks, limits.shared / shared);
  return std::max(1, blocks);  // The kernel ran, so that at least one fits.
}

}  // namespace gradway
