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
  std::vector<SizedTime> times;
  for (const auto& row : rows) {
    if (is_wanted(row)) times.push_back({row.size, row.time});
  }
  if (times.empty()) return std::nullopt;
  const auto best = merged_by_size(std::move(times)).back();
  return CopyRate{best.size / best.time, best.size};
}

bool contains(std::span<const int> gpus, std::optional<int> gpu) {
  return gpu && std::ranges::find(gpus, *gpu) != gpus.end();
}

void keep_faster(std::optional<CopyRate>& best, const CopyRate& candidate) {
  if (candidate.rate > BytesPerSecond{} && (!best || candidate.rate > best->rate)) best = candidate;
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
std::optional<int> gpu_of(const CopyWay& copy, HostWay direction) {
  if (direction == HostWay::to_gpu) return copy.from ? std::nullopt : copy.to;
  return copy.to ? std::nullopt : copy.from;
}

}  // namespace

std::optional<CopyRate> NodeRates::pinned(HostWay direction, int gpu) const {
  const auto role = direction == HostWay::to_gpu ? LinkRole::to_gpu : LinkRole::from_gpu;
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

std::optional<CopyRate> NodeRates::together(HostWay direction, std::span<const int> gpus) const {
  std::optional<CopyRate> best;
  for (const auto& pattern : samples_.patterns) {
    const auto [sum, count] =
        sum_of(pattern, [&](const CopyWay& copy) { return contains(gpus, gpu_of(copy, direction)); });
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
    const auto rank = [](const MemoryRate& candidate) {
      return std::pair{candidate.copies_of_node, candidate.size};
    };
    if (!best || rank(rate) > rank(*best)) best = rate;
  }
  return best;
}

std::optional<CopyRate> NodeRates::across(std::span<const int> from, std::span<const int> to) const {
  std::optional<CopyRate> best;
  for (const auto sender : from) {
    for (const auto receiver : to) {
      const auto alone = largest(samples_.copies, [&](const CopyRow& row) {
        return row.role == LinkRole::peer && row.gpus == std::vector{sender, receiver};
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
    const auto rank_rate = bus_factor(row.kind, row.ranks) * (row.size / row.time);
    const auto total = static_cast<double>(row.ranks) * rank_rate;
    if (!best || total > best->rate) best = RingRate{total, row.ranks, rank_rate};
  }
  return best;
}

}  // namespace gradway
