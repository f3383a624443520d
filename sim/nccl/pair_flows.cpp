// SPDX-License-Identifier: Apache-2.0
// All-to-all: all pairs send at the same time.
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>

#include "sim/nccl/collective_ways.hpp"

namespace gradway {
namespace {

/// Pairs of one kind, which send at the same time, as one flow.
class PairsAsOne {
 public:
  /// @param hops number of hops among which the bytes from one rank to another are divided
  void add(const Hop& hop, int hops) {
    for (const auto resource : hop.path) ++uses_[{resource, hops}];
    latency_ = std::max(latency_, hop.latency);
  }

  /// @param times number of domains that each added domain stands for
  /// @return empty if there are none
  std::optional<PairFlow> flow(bool is_between_nodes, int peers, std::int64_t times) const {
    if (uses_.empty()) return std::nullopt;
    std::int64_t denominator = 1;
    for (const auto& [use, count] : uses_)
      denominator = std::lcm(denominator, static_cast<std::int64_t>(use.second));
    std::map<ResourceId, std::int64_t> load;  // in parts of the bytes from one rank to another
    for (const auto& [use, count] : uses_) load[use.first] += count * (denominator / use.second);
    std::int64_t common = 0;
    for (const auto& [resource, count] : load) common = std::gcd(common, count);
    std::vector<ResourceId> path;
    for (const auto& [resource, count] : load)
      path.insert(path.end(), static_cast<std::size_t>(count / common), resource);
    return PairFlow{std::move(path), static_cast<double>(times * common) / static_cast<double>(denominator),
                    peers, is_between_nodes, latency_};
  }

 private:
  std::map<std::pair<ResourceId, int>, std::int64_t> uses_;
  Seconds latency_{};
};

}  // namespace

/// The nearest NICs of its node, by number.
std::vector<std::size_t> CollectiveWays::nearest_rails(std::size_t gpu) const {
  const auto& platform = routes_.platform();
  const auto id = platform.gpus[gpu];
  const auto nics = routes_.on_node(platform.device(id).node, DeviceKind::nic);
  std::vector<std::size_t> nearest;
  auto least = PathType::net;
  for (std::size_t rail = 0; rail < nics.size(); ++rail) {
    const auto distance = routes_.path_type(id, nics[rail]);
    if (distance < least) nearest.clear();
    least = std::min(least, distance);
    if (distance == least) nearest.push_back(rail);
  }
  if (nearest.empty()) nearest.push_back(0);
  return nearest;
}

/// Of few domains that stand for all, two show what a domain uses inside and for each other domain.
const std::vector<PairFlow>& CollectiveWays::pairs() const {
  if (!pairs_.empty() || gpus_.size() == 1) return pairs_;
  const auto& platform = routes_.platform();
  const auto gpus = keeps_few() ? gpus_of_first_two() : gpus_;
  const auto other_domains = keeps_few() ? static_cast<int>(domain_count_) - 1 : 1;
  PairsAsOne inside;
  PairsAsOne between;
  int peers_inside = 0;
  int peers_between = 0;
  for (const auto to : gpus) {
    const auto domain = platform.nvlink_domain(platform.gpus[to]);
    const auto rails = nearest_rails(to);
    int domain_peers = 0;
    for (const auto from : gpus) {
      if (from == to) continue;
      if (platform.nvlink_domain(platform.gpus[from]) == domain) {
        inside.add(hop({from, to, rails.front()}), 1);
        ++domain_peers;
        continue;
      }
      for (const auto rail : rails) between.add(hop({from, to, rail}), static_cast<int>(rails.size()));
    }
    peers_inside = std::max(peers_inside, domain_peers);
    peers_between = std::max(peers_between, static_cast<int>(gpus.size()) - 1 - domain_peers);
  }
  if (auto flow = inside.flow(false, peers_inside, 1)) pairs_.push_back(*std::move(flow));
  if (auto flow = between.flow(true, peers_between * other_domains, other_domains))
    pairs_.push_back(*std::move(flow));
  for (auto& flow : pairs_)
    flow.path = keeps_few() ? on_each_domain(flow.path) : over_domains(flow.path.resources());
  return pairs_;
}

}  // namespace gradway
