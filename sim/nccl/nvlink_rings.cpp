// SPDX-License-Identifier: Apache-2.0
#include "sim/nccl/nvlink_rings.hpp"

#include <algorithm>
#include <map>

namespace gradway {
namespace {

/// More GPUs than any node joins without a switch belong to a ring made up for analysis.
constexpr std::size_t most_gpus = 64;

/// Links left from one GPU to another, in one direction; by position in the node.
using Links = std::vector<std::vector<int>>;

/// Empty if no NVLink joins two of them directly, as on most platforms.
Links direct_links(const Routes& routes, const std::vector<std::size_t>& gpus) {
  if (gpus.size() > most_gpus) return {};
  const auto& platform = routes.platform();
  std::map<DeviceId, std::size_t> position;
  for (std::size_t i = 0; i < gpus.size(); ++i) position[platform.gpus[gpus[i]]] = i;
  Links links;
  for (const auto& [device, from] : position) {
    for (const auto* link : routes.links_from(device)) {
      if (link->kind != LinkKind::nvlink) continue;
      const auto to = position.find(link->to);
      if (to == position.end()) continue;
      if (links.empty()) links.assign(gpus.size(), std::vector<int>(gpus.size(), 0));
      links[from][to->second] += link->count;
    }
  }
  return links;
}

/// Looks for a ring through all positions, depth first; most links left go first, so that rings that follow
/// find some. Gives up after so many steps: a node has few GPUs, and most searches end at once.
class RingSearch {
 public:
  explicit RingSearch(Links& links) : links_{links}, visited_(links.size(), false) {}

  /// @return positions in order, or empty
  std::vector<std::size_t> find() {
    ring_ = {0};
    visited_[0] = true;
    return extend() ? ring_ : std::vector<std::size_t>{};
  }

 private:
  bool extend() {
    if (++steps_ > most_steps) return false;
    const auto last = ring_.back();
    if (ring_.size() == links_.size()) return links_[last][0] > 0;
    std::vector<std::size_t> next;
    for (std::size_t i = 0; i < links_.size(); ++i)
      if (!visited_[i] && links_[last][i] > 0) next.push_back(i);
    std::ranges::stable_sort(next, std::ranges::greater{}, [&](std::size_t i) { return links_[last][i]; });
    for (const auto i : next) {
      ring_.push_back(i);
      visited_[i] = true;
      if (extend()) return true;
      visited_[i] = false;
      ring_.pop_back();
    }
    return false;
  }

  static constexpr int most_steps = 100'000;
  Links& links_;
  std::vector<bool> visited_;
  std::vector<std::size_t> ring_;
  int steps_ = 0;
};

}  // namespace

bool has_direct_nvlinks(const Routes& routes, const std::vector<std::size_t>& gpus) {
  return !direct_links(routes, gpus).empty();
}

std::vector<std::vector<std::size_t>> nvlink_rings(const Routes& routes,
                                                   const std::vector<std::size_t>& gpus) {
  auto links = direct_links(routes, gpus);
  std::vector<std::vector<std::size_t>> rings;
  while (gpus.size() > 1 && !links.empty()) {
    const auto positions = RingSearch{links}.find();
    if (positions.empty()) break;
    auto& ring = rings.emplace_back();
    for (std::size_t i = 0; i < positions.size(); ++i) {
      ring.push_back(gpus[positions[i]]);
      --links[positions[i]][positions[(i + 1) % positions.size()]];
    }
  }
  if (rings.empty()) rings.push_back(gpus);
  return rings;
}

}  // namespace gradway
