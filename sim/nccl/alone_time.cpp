// SPDX-License-Identifier: Apache-2.0
#include "sim/nccl/alone_time.hpp"

#include <algorithm>
#include <map>
#include <utility>
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
class Uses {
 public:
  void add(const std::vector<ResourceId>& path, double amount) {
    for (const auto resource : path) uses_.push_back({resource.index(), amount});
  }

  /// Least of their capacities over the amount, and of `rate`.
  BytesPerSecond least_rate(BytesPerSecond rate, const Platform& platform, Rates rates) {
    std::ranges::stable_sort(uses_, {}, &Use::resource);
    for (auto use = uses_.begin(); use != uses_.end();) {
      const auto& shared = platform.resources[use->resource];
      const auto resource = use->resource;
      double amount = 0;
      for (; use != uses_.end() && use->resource == resource; ++use) amount += use->amount;
      const auto capacity = rates == Rates::as_built ? shared.capacity : shared.rate();
      rate = std::min(rate, BytesPerSecond{capacity / amount});
    }
    return rate;
  }

 private:
  std::vector<Use> uses_;
};

/// Domains of which one for each different use by the flows.
std::vector<std::size_t> different_domains(const std::vector<CollectiveFlow>& flows) {
  std::vector<const std::vector<std::uint32_t>*> patterns;
  for (const auto& flow : flows) {
    const auto* pattern = flow.path.over_domains()->use_of_domain.get();
    if (std::ranges::find(patterns, pattern) == patterns.end()) patterns.push_back(pattern);
  }
  const auto domains = patterns.front()->size();
  std::vector<std::uint32_t> kinds(domains, 0);
  for (const auto* pattern : patterns) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known;
    for (std::size_t i = 0; i < domains; ++i)
      kinds[i] = known.try_emplace({kinds[i], (*pattern)[i]}, static_cast<std::uint32_t>(known.size()))
                     .first->second;
  }
  std::vector<std::size_t> different;
  for (std::size_t i = 0; i < domains; ++i)
    if (kinds[i] == different.size()) different.push_back(i);
  return different;
}

/// Rate of the first of several flows that run alone and end at the same time: with equal amounts, max-min
/// shares are equal on common resources, and the most used resource limits the slowest flow.
BytesPerSecond rate_alone(const std::vector<CollectiveFlow>& flows, const Platform& platform, Rates rates) {
  auto rate = BytesPerSecond::infinite();
  if (flows.front().path.over_domains() == nullptr) {
    Uses uses;
    for (const auto& flow : flows) uses.add(flow.path, amount_of(flow, flows));
    return uses.least_rate(rate, platform, rates);
  }
  for (const auto domain : different_domains(flows)) {
    Uses uses;
    for (const auto& flow : flows) {
      const auto& over = *flow.path.over_domains();
      uses.add(over.uses[(*over.use_of_domain)[domain]], amount_of(flow, flows));
    }
    rate = uses.least_rate(rate, platform, rates);
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
  const auto* over = flow.path.over_domains();
  const auto link = over ? over->uses.front().front() : *flow.path.begin();
  if (!is_tiny_at(BytesPerSecond{platform.resources[link.index()].rate()})) return;
  if (!is_tiny_at(rate_alone(lowered.flows, platform, Rates::sped_up))) return;
  lowered.latency = time_alone(lowered, platform);
  lowered.flows.clear();
}

}  // namespace gradway
