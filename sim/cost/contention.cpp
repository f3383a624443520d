// SPDX-License-Identifier: Apache-2.0
#include "sim/cost/contention.hpp"

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "sim/base/contract.hpp"

namespace gradway {
namespace {

std::int64_t waves(std::int64_t blocks, std::int64_t slots) {
  return (blocks + slots - 1) / slots;
}

bool has_blocks(const Footprint& kernel) {
  return kernel.blocks > 0 && kernel.blocks_per_sm > 0;
}

/// The precision of the measurement that is used for a kernel.
Precision row_of(const Footprint& kernel) {
  const bool product = kernel.kind == KernelClass::matrix || kernel.kind == KernelClass::attention;
  return product && kernel.precision == Precision::fp32 ? Precision::fp32 : Precision::bf16;
}

/// Whether the blocks of a kernel fetch tiles from a scheduler.
bool is_persistent(const Footprint& kernel) {
  return has_blocks(kernel) && kernel.tiles > kernel.blocks;
}

}  // namespace

double wave_slowdown(const Footprint& kernel, int multiprocessors, int channels) {
  if (multiprocessors <= channels || channels <= 0) return 1;
  const auto remaining = multiprocessors - channels;
  const bool persists = is_persistent(kernel);
  if (kernel.kind == KernelClass::memory || !has_blocks(kernel) ||
      (persists && kernel.kind == KernelClass::attention)) {
    return static_cast<double>(multiprocessors) / remaining;
  }
  if (persists) {
    const auto pairs_left = std::max(multiprocessors - 2 * channels, 2);
    const auto alone = waves(kernel.tiles, std::int64_t{kernel.blocks_per_sm} * multiprocessors);
    const auto shared = waves(kernel.tiles, std::int64_t{kernel.blocks_per_sm} * pairs_left);
    return static_cast<double>(shared) / static_cast<double>(alone);
  }
  const auto alone = waves(kernel.blocks, std::int64_t{kernel.blocks_per_sm} * multiprocessors);
  const auto shared = waves(kernel.blocks, std::int64_t{kernel.blocks_per_sm} * remaining);
  return static_cast<double>(shared) / static_cast<double>(alone);
}

bool blocks_collective(const Footprint& kernel, int multiprocessors, int channels) {
  if (!has_blocks(kernel) || multiprocessors <= channels) return false;
  // Blocks spread over the multiprocessors before they share one.
  return kernel.blocks > multiprocessors - channels;
}

const ContentionFactors* measured_contention(const std::vector<ContentionFactors>& rows, Transport transport,
                                             int ranks, const Footprint& kernel, int channels) {
  const ContentionFactors* best = nullptr;
  const auto distance = [&](const ContentionFactors& row) {
    return std::tuple{row.precision != row_of(kernel),
                      row.ranks == 0 ? 0 : std::abs(row.ranks - ranks),
                      -row.ranks,
                      row.channels == 0,
                      std::abs(row.channels - channels),
                      row.channels};
  };
  for (const auto& row : rows) {
    if (row.transport != transport) continue;
    if (best == nullptr || distance(row) < distance(*best)) best = &row;
  }
  return best;
}

}  // namespace gradway
