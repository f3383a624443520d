// SPDX-License-Identifier: Apache-2.0
#include "sim/nccl/alone_time.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace gradway {
namespace {

// The rest is time of the flows, which links and neighbours can slow down.
constexpr double largest_share_of_latency = 0.9;
// Its effect on others is smaller than any prediction or measurement can resolve.
constexpr double tiny_share_of_latency = 1e-3;

/// Amount of a flow over that of the first flow.
double amount_of(const CollectiveFlow& flow, const std::vector<CollectiveFlow>& flows) {
  return flow.amount / flows.front().amount;
}

/// A resource and how much of the first flow's amount passes through it.
struct Use {
  std::size_t resource;
  double amount;
};

/// The resources that flows use, each once. Those of few GPUs of a large platform are sorted; else a table of
/// all resources between the first and the last is cheaper.
std::vector<Use> uses_of(const std::vector<CollectiveFlow>& flows) {
  constexpr std::size_t sparse = 4;
  std::vector<Use> uses;
  auto first = std::numeric_limits<std::size_t>::max();
  std::size_t end = 0;
  std::size_t named = 0;
  for (const auto& flow : flows) {
    named += flow.path.size();
    for (const auto resource : flow.path) {
      first = std::min(first, resource.index());
      end = std::max(end, resource.index() + 1);
    }
  }
  if (named == 0) return uses;
  const bool is_sparse = named * sparse < end - first;
  uses.reserve(is_sparse ? named : end - first);
  if (!is_sparse)
    for (auto resource = first; resource < end; ++resource) uses.push_back({resource, 0});
  for (const auto& flow : flows) {
    const auto amount = amount_of(flow, flows);
    for (const auto resource : flow.path) {
      if (is_sparse) {
        uses.push_back({resource.index(), amount});
      } else {
        uses[resource.index() - first].amount += amount;
      }
    }
  }
  if (is_sparse) {
    std::ranges::stable_sort(uses, {}, &Use::resource);
    std::size_t last = 0;
    for (std::size_t i = 1; i < uses.size(); ++i) {
      if (uses[i].resource == uses[last].resource) {
        uses[last].amount += uses[i].amount;
      } else {
        uses[++last] = uses[i];
      }
    }
    uses.resize(last + 1);
  }
  return uses;
}

/// Rate of the first of several flows that run alone and end at the same time: with equal amounts, max-min
/// shares are equal on common resources, and the most used resource limits the slowest flow.
BytesPerSecond rate_alone(const std::vector<CollectiveFlow>& flows, const Platform& platform, Rates rates) {
  auto rate = BytesPerSecond::infinite();
  for (const auto& [resource, amount] : uses_of(flows)) {
    if (amount == 0) continue;
    const auto& shared = platform.resources[resource];
    const auto capacity = rates == Rates::as_built ? shared.capacity : shared.rate();
    rate = std::min(rate, BytesPerSecond{capacity / amount});
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

void drop_negligible_flows(LoweredCollective& lowered, const Platform& platform) {
  if (lowered.flows.empty()) return;
  const auto& flow = lowered.flows.front();
  const auto is_tiny_at = [&](BytesPerSecond rate) {
    return flow.amount / rate <= lowered.latency * tiny_share_of_latency;
  };
  // No path is faster than any of its links, so checking one link suffices for most collectives.
  const auto link = *flow.path.begin();
  if (!is_tiny_at(BytesPerSecond{platform.resources[link.index()].rate()})) return;
  if (!is_tiny_at(rate_alone(lowered.flows, platform, Rates::sped_up))) return;
  lowered.latency = time_alone(lowered, platform);
  lowered.flows.clear();
}

}  // namespace gradway
