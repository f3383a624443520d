// SPDX-License-Identifier: Apache-2.0
#include "sim/nccl/alone_time.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace gradway {
namespace {

// So that something is left for the flows, which links and neighbours can slow.
constexpr double largest_share_of_latency = 0.9;
// What it could cost others stays below what prediction or measurement can tell.
constexpr double tiny_share_of_latency = 1e-3;

/// Of the first: what it moves, so many times.
double amount_of(const CollectiveFlow& flow, const std::vector<CollectiveFlow>& flows) {
  return flow.amount / flows.front().amount;
}

/// Rate that the first of several flows gets when nothing else uses the links and all end together: where
/// they move as much, max-min shares are equal where all meet, and the most used resource decides for the
/// slowest.
BytesPerSecond rate_alone(const std::vector<CollectiveFlow>& flows, const Platform& platform, Rates rates) {
  std::vector<std::pair<ResourceId, double>> uses;
  for (const auto& flow : flows) {
    const auto times = amount_of(flow, flows);
    for (const auto resource : flow.path) uses.emplace_back(resource, times);
  }
  std::ranges::sort(uses);
  auto rate = BytesPerSecond::infinite();
  for (auto first = uses.begin(); first != uses.end();) {
    double times = 0;
    const auto id = first->first;
    for (; first != uses.end() && first->first == id; ++first) times += first->second;
    const auto& shared = platform.resources[id.index()];
    rate =
        std::min(rate, BytesPerSecond{(rates == Rates::as_built ? shared.capacity : shared.rate()) / times});
  }
  return rate;
}

}  // namespace

void take_time(LoweredCollective& lowered, Seconds time, const Platform& platform, Rates rates) {
  lowered.latency = std::min(lowered.latency, time * largest_share_of_latency);
  const auto moving = time - lowered.latency;
  const auto most = rate_alone(lowered.flows, platform, rates) * moving;
  const auto first = lowered.flows.front().amount;
  for (auto& flow : lowered.flows) {
    flow.amount = std::min(flow.amount, most * (flow.amount / first));
    flow.cap = (flow.amount / moving).value();
  }
}

Seconds time_alone(const LoweredCollective& lowered, const Platform& platform) {
  if (lowered.flows.empty()) return lowered.latency;
  const auto rate = rate_alone(lowered.flows, platform, Rates::sped_up);
  Seconds longest{};
  for (const auto& flow : lowered.flows) {
    const auto of_links = rate * amount_of(flow, lowered.flows);
    longest = std::max(longest, flow.amount / std::min(BytesPerSecond{flow.cap}, of_links));
  }
  return lowered.latency + longest;
}

void take_no_links_if_tiny(LoweredCollective& lowered, const Platform& platform) {
  if (lowered.flows.empty()) return;
  const auto& flow = lowered.flows.front();
  const auto is_tiny_at = [&](BytesPerSecond rate) {
    return flow.amount / rate <= lowered.latency * tiny_share_of_latency;
  };
  // No way is faster than any of its links: most collectives need no more than one of them looked at.
  const auto one = *flow.path.begin();
  if (!is_tiny_at(BytesPerSecond{platform.resources[one.index()].rate()})) return;
  if (!is_tiny_at(rate_alone(lowered.flows, platform, Rates::sped_up))) return;
  lowered.latency = time_alone(lowered, platform);
  lowered.flows.clear();
}

}  // namespace gradway
