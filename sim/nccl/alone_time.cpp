// SPDX-License-Identifier: Apache-2.0
#include "sim/nccl/alone_time.hpp"

#include <algorithm>
#include <vector>

namespace gradway {
namespace {

// So that something is left for the flows, which links and neighbours can slow.
constexpr double largest_share_of_latency = 0.9;

/// Of the first: what it moves, so many times.
double amount_of(const CollectiveFlow& flow, const std::vector<CollectiveFlow>& flows) {
  return flow.amount / flows.front().amount;
}

/// Rate that the first of several flows gets when nothing else uses the links and all end together: where
/// they move as much, max-min shares are equal where all meet, and the most used resource decides for the
/// slowest.
BytesPerSecond rate_alone(const std::vector<CollectiveFlow>& flows, const Platform& platform, Rates rates) {
  std::vector<double> uses(platform.resources.size(), 0);
  for (const auto& flow : flows) {
    const auto times = amount_of(flow, flows);
    for (const auto resource : flow.path) uses[resource.index()] += times;
  }
  auto rate = BytesPerSecond::infinite();
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (uses[i] == 0) continue;
    const auto& shared = platform.resources[i];
    rate = std::min(rate,
                    BytesPerSecond{(rates == Rates::as_built ? shared.capacity : shared.rate()) / uses[i]});
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

}  // namespace gradway
