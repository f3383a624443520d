// SPDX-License-Identifier: Apache-2.0
#include "sim/nccl/nvlink_rings.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/nccl/mesh_rings.hpp"

namespace gradway {
namespace {

/// No node joins more GPUs without a switch; larger rings are synthetic, for analysis.
constexpr std::size_t most_gpus = 64;

/// Unused links from one GPU to another, in one direction, by position in the node.
using Links = std::vector<std::vector<int>>;

/// Direct NVLinks between the GPUs; empty if there are none, as on most platforms.
Links direct_links(const Routes& routes, const std::vector<std::size_t>& gpus) {
  if (gpus.size() > most_gpus) return {};
  const auto& platform = routes.platform();
  std::map<DeviceId, std::size_t> position;
  for (std::size_t i = 0; i < gpus.size(); ++i) position[platform.gpus[gpus[i]]] = i;
  Links links;
  for (const auto& [device, from] : position) {
    for (const auto* link : routes.links_from(device)) {
      if (!joins_gpus(link->kind)) continue;
      const auto peer = position.find(link->to);
      if (peer == position.end()) continue;
      if (links.empty()) links.assign(gpus.size(), std::vector<int>(gpus.size(), 0));
      links[from][peer->second] += link->count;
    }
  }
  return links;
}

/// By position: the relay between two GPUs without a link, if there is one.
using RelayTable = std::vector<std::vector<std::optional<std::size_t>>>;

/// Searches a ring through all positions, depth first. GPUs with most unused links are tried first, so that
/// links remain for further rings. Stops after `most_steps`: a node has few GPUs, and most searches end at
/// once.
class RingSearch {
 public:
  /// @param links without those of a found ring afterwards
  /// @param relays empty: none
  RingSearch(Links& links, const RelayTable& relays)
      : links_{links}, relays_{relays}, visited_(links.size(), false) {}

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
    if (ring_.size() == links_.size()) {
      if (room(last, 0) == 0) return false;
      use(last, 0, 1);
      return true;
    }
    std::vector<std::size_t> next;
    for (std::size_t i = 0; i < links_.size(); ++i)
      if (!visited_[i] && room(last, i) > 0) next.push_back(i);
    std::ranges::stable_sort(next, std::ranges::greater{}, [&](std::size_t i) { return links_[last][i]; });
    for (const auto i : next) {
      ring_.push_back(i);
      visited_[i] = true;
      use(last, i, 1);
      if (extend()) return true;
      use(last, i, -1);
      visited_[i] = false;
      ring_.pop_back();
    }
    return false;
  }

  std::optional<std::size_t> relay(std::size_t from, std::size_t to) const {
    return relays_.empty() ? std::nullopt : relays_[from][to];
  }
  /// Unused links between the two, through the relay if there is one.
  int room(std::size_t from, std::size_t to) const {
    const auto through = relay(from, to);
    return through ? std::min(links_[from][*through], links_[*through][to]) : links_[from][to];
  }
  /// Takes links between the two, or gives them back.
  void use(std::size_t from, std::size_t to, int count) {
    const auto through = relay(from, to);
    links_[from][through.value_or(to)] -= count;
    if (through) links_[*through][to] -= count;
  }

  static constexpr int most_steps = 100'000;
  Links& links_;
  const RelayTable& relays_;
  std::vector<bool> visited_;
  std::vector<std::size_t> ring_;
  int steps_ = 0;
};

RelayTable relay_table(const Routes& routes, const std::vector<std::size_t>& gpus) {
  RelayTable table(gpus.size(), std::vector<std::optional<std::size_t>>(gpus.size()));
  for (std::size_t from = 0; from < gpus.size(); ++from) {
    for (std::size_t to = 0; to < gpus.size(); ++to) {
      if (from == to) continue;
      if (const auto relay = nvlink_relay(routes, gpus, gpus[from], gpus[to]))
        table[from][to] = static_cast<std::size_t>(std::ranges::find(gpus, *relay) - gpus.begin());
    }
  }
  return table;
}

/// Rings until there are no links for another.
std::vector<std::vector<std::size_t>> all_rings(Links links, const RelayTable& relays,
                                                const std::vector<std::size_t>& gpus) {
  std::vector<std::vector<std::size_t>> rings;
  for (;;) {
    const auto positions = RingSearch{links, relays}.find();
    if (positions.empty()) return rings;
    auto& ring = rings.emplace_back();
    for (const auto position : positions) ring.push_back(gpus[position]);
  }
}

}  // namespace

std::optional<std::size_t> nvlink_relay(const Routes& routes, const std::vector<std::size_t>& gpus,
                                        std::size_t from, std::size_t to) {
  const auto& platform = routes.platform();
  const auto links = [&](std::size_t a, std::size_t b) {
    return routes.nvlinks(platform.gpus[a], platform.gpus[b]);
  };
  const auto node = [&](std::size_t gpu) { return platform.device(platform.gpus[gpu]).node; };
  if (node(from) != node(to) || links(from, to) > 0) return std::nullopt;
  std::optional<std::size_t> best;
  std::pair<int, int> most{0, 0};
  for (const auto gpu : gpus) {
    if (gpu == from || gpu == to || node(gpu) != node(from)) continue;
    const auto second = links(gpu, to);
    const auto least = std::min(links(from, gpu), second);
    if (least == 0 || std::pair{least, second} <= most) continue;
    most = {least, second};
    best = gpu;
  }
  return best;
}

bool has_direct_nvlinks(const Routes& routes, const std::vector<std::size_t>& gpus) {
  return !direct_links(routes, gpus).empty();
}

std::vector<std::vector<std::size_t>> nvlink_rings(const Routes& routes, const std::vector<std::size_t>& gpus,
                                                   bool relays) {
  std::vector<std::vector<std::size_t>> rings;
  if (routes.platform().gpu_models.front().is_amd() && mesh_links(routes, gpus) > 0) {
    for (const auto& positions : mesh_rings(gpus.size())) {
      auto& ring = rings.emplace_back();
      for (const auto position : positions) ring.push_back(gpus[position]);
    }
    if (!rings.empty()) return rings;
  }
  if (const auto links = direct_links(routes, gpus); gpus.size() > 1 && !links.empty()) {
    rings = all_rings(links, {}, gpus);
    if (rings.empty() && relays) rings = all_rings(links, relay_table(routes, gpus), gpus);
  }
  if (rings.empty()) rings.push_back(gpus);
  return rings;
}

}  // namespace gradway
