// SPDX-License-Identifier: Apache-2.0
#include "sim/describe/node_rates.hpp"

#include <algorithm>

#include "sim/cost/nccl_model.hpp"
#include "sim/fit/monotone.hpp"

namespace gradway {
namespace {

/// @param is_wanted selects rows.
template <class Wanted>
std::optional<CopyRate> largest(const std::vector<CopyRow>& rows, const Wanted& is_wanted) {
  std::vector<SizedTime> found;
  for (const auto& row : rows) {
    if (is_wanted(row)) found.push_back({row.size, row.time});
  }
  if (found.empty()) return std::nullopt;
  const auto best = merged_by_size(std::move(found)).back();
  return CopyRate{best.size / best.time, best.size};
}

bool contains(std::span<const int> gpus, std::optional<int> gpu) {
  return gpu && std::ranges::find(gpus, *gpu) != gpus.end();
}

void keep_faster(std::optional<CopyRate>& best, const CopyRate& other) {
  if (other.rate > BytesPerSecond{} && (!best || other.rate > best->rate)) best = other;
}

/// The sum of the rates of a pattern's selected copies, and their number.
template <class Wanted>
std::pair<CopyRate, std::size_t> sum_of(const PatternRow& pattern, const Wanted& is_wanted) {
  CopyRate sum{{}, pattern.size};
  std::size_t count = 0;
  for (std::size_t i = 0; i < pattern.copies.size(); ++i) {
    if (!is_wanted(pattern.copies[i])) continue;
    sum.rate += pattern.size / pattern.times[i];
    ++count;
  }
  return {sum, count};
}

/// The GPU at the other end of a copy from or to host memory.
std::optional<int> gpu_of(const CopyWay& copy, HostWay way) {
  if (way == HostWay::to_gpu) return copy.from ? std::nullopt : copy.to;
  return copy.to ? std::nullopt : copy.from;
}

}  // namespace

std::optional<CopyRate> NodeRates::pinned(HostWay way, int gpu) const {
  const auto role = way == HostWay::to_gpu ? LinkRole::to_gpu : LinkRole::from_gpu;
  return largest(samples_.copies, [&](const CopyRow& row) {
    return row.role == role && (row.gpus.empty() || contains(row.gpus, gpu));
  });
}

std::optional<CopyRate> NodeRates::pageable() const {
  return largest(samples_.copies, [](const CopyRow& row) { return row.role == LinkRole::pageable_to_gpu; });
}

std::optional<CopyRate> NodeRates::peer(int from, int to) const {
  const auto named = largest(samples_.copies, [&](const CopyRow& row) {
    return row.role == LinkRole::peer && row.gpus == std::vector{from, to};
  });
  if (named) return named;
  return largest(samples_.copies,
                 [](const CopyRow& row) { return row.role == LinkRole::peer && row.gpus.size() < 2; });
}

std::optional<CopyRate> NodeRates::together(HostWay way, std::span<const int> gpus) const {
  std::optional<CopyRate> best;
  for (const auto& pattern : samples_.patterns) {
    const auto [sum, count] =
        sum_of(pattern, [&](const CopyWay& copy) { return contains(gpus, gpu_of(copy, way)); });
    if (count >= gpus.size()) keep_faster(best, sum);
  }
  return best;
}

std::optional<NodeRates::MemoryRate> NodeRates::memory(std::span<const int> gpus) const {
  std::optional<MemoryRate> best;
  for (const auto& pattern : samples_.patterns) {
    MemoryRate rate{{}, pattern.size, 0, pattern.times.size()};
    Seconds slowest{};
    for (std::size_t i = 0; i < pattern.copies.size(); ++i) {
      const auto& copy = pattern.copies[i];
      if (!contains(gpus, gpu_of(copy, HostWay::to_gpu)) && !contains(gpus, gpu_of(copy, HostWay::from_gpu)))
        continue;
      slowest = std::max(slowest, pattern.times[i]);
      ++rate.copies;
    }
    if (rate.copies < 2 * gpus.size()) continue;
    rate.rate = static_cast<double>(rate.copies) * pattern.size / slowest;
    const auto rank = [](const MemoryRate& one) { return std::pair{one.copies_of_node, one.size}; };
    if (!best || rank(rate) > rank(*best)) best = rate;
  }
  return best;
}

std::optional<CopyRate> NodeRates::across(std::span<const int> from, std::span<const int> to) const {
  std::optional<CopyRate> best;
  for (const auto one : from) {
    for (const auto other : to) {
      const auto alone = largest(samples_.copies, [&](const CopyRow& row) {
        return row.role == LinkRole::peer && row.gpus == std::vector{one, other};
      });
      if (alone) keep_faster(best, *alone);
    }
  }
  for (const auto& pattern : samples_.patterns) {
    keep_faster(best, sum_of(pattern, [&](const CopyWay& copy) {
                        return contains(from, copy.from) && contains(to, copy.to);
                      }).first);
  }
  return best;
}

std::optional<NodeRates::RingRate> NodeRates::through_net() const {
  std::optional<RingRate> best;
  for (const auto& row : samples_.collectives) {
    const bool is_ring = row.kind == CollectiveKind::all_reduce || row.kind == CollectiveKind::all_gather ||
                         row.kind == CollectiveKind::reduce_scatter;
    if (row.transport != Transport::net || row.nodes > 1 || !is_ring || row.algorithm == Algorithm::tree)
      continue;
    const auto each = bus_factor(row.kind, row.ranks) * (row.size / row.time);
    const auto all = static_cast<double>(row.ranks) * each;
    if (!best || all > best->rate) best = RingRate{all, row.ranks, each};
  }
  return best;
}

}  // namespace gradway
