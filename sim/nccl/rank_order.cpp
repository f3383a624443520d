// SPDX-License-Identifier: Apache-2.0
#include "sim/nccl/rank_order.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "sim/base/contract.hpp"
#include "sim/nccl/mesh_rings.hpp"
#include "sim/nccl/nvlink_rings.hpp"

namespace gradway {
namespace {

using Nodes = std::vector<GpuNumbers>;

/// The GPUs near a NIC at which a ring enters and leaves the node, by number within the node.
struct RingEntry {
  std::size_t nic = 0;  ///< by number within the node, or in the domain
  std::size_t entry = 0;
  std::optional<std::size_t> exit;  ///< empty if no other GPU is equally near
};

/// Parts of one of NCCL's nodes, in order.
std::vector<DeviceId> in_domain(const Routes& routes, int domain, DeviceKind kind) {
  const auto& domains = routes.platform().nvlink_domains;
  if (domains.empty()) return routes.on_node(domain, kind);
  std::vector<DeviceId> devices;
  for (std::size_t node = 0; node < domains.size(); ++node) {
    if (domains[node] == domain)
      std::ranges::copy(routes.on_node(static_cast<int>(node), kind), std::back_inserter(devices));
  }
  return devices;
}

/// The NICs that are nearest to at least one of these GPUs.
std::vector<DeviceId> nearest_nics(const Routes& routes, const GpuNumbers& gpus,
                                   const std::vector<DeviceId>& nics) {
  const auto& platform = routes.platform();
  std::set<DeviceId> near;
  for (const auto gpu : gpus) {
    const auto distance = [&](DeviceId nic) { return routes.path_type(platform.gpus[gpu], nic); };
    const auto least = distance(*std::ranges::min_element(nics, {}, distance));
    for (const auto nic : nics)
      if (distance(nic) == least) near.insert(nic);
  }
  return {near.begin(), near.end()};
}

/// Ring entries of a node, one for each NIC. NICs that are equally near to several GPUs use them in turn.
std::vector<RingEntry> ring_entries(const Routes& routes, const GpuNumbers& first_node) {
  const auto& platform = routes.platform();
  std::vector<RingEntry> entries;
  std::vector<std::size_t> uses(first_node.size(), 0);
  const auto domain = platform.nvlink_domain(platform.gpus[first_node.front()]);
  const auto every_nic = in_domain(routes, domain, DeviceKind::nic);
  auto nics = every_nic;
  const auto node_gpus = in_domain(routes, domain, DeviceKind::gpu).size();
  if (first_node.size() < node_gpus && !nics.empty()) nics = nearest_nics(routes, first_node, nics);
  for (const auto nic : nics) {
    std::vector<PathType> distance;
    for (const auto gpu : first_node) distance.push_back(routes.path_type(platform.gpus[gpu], nic));
    const auto nearest = *std::ranges::min_element(distance);
    RingEntry entry;
    entry.nic = static_cast<std::size_t>(std::ranges::find(every_nic, nic) - every_nic.begin());
    auto least = static_cast<std::size_t>(-1);
    for (std::size_t i = 0; i < distance.size(); ++i) {
      if (distance[i] != nearest || uses[i] >= least) continue;
      least = uses[i];
      entry.entry = i;
    }
    ++uses[entry.entry];
    for (std::size_t i = 0; i < distance.size() && nearest <= PathType::pxb; ++i) {
      if (distance[i] == nearest && i != entry.entry) entry.exit = i;
    }
    entries.push_back(entry);
  }
  return entries;
}

/// Each ring leaves at the GPU where the other of its pair enters. @pre an even number of rings
void pair_up(std::vector<RingEntry>& entries) {
  for (std::size_t ring = 0; ring < entries.size(); ring += 2) {
    entries[ring].exit = entries[ring + 1].entry;
    entries[ring + 1].exit = entries[ring].entry;
  }
}

/// The order of a node's GPUs for a ring that enters it there.
/// On a full mesh of an even number of GPUs of AMD the chain that starts there.
GpuNumbers rotated_to(const Routes& routes, GpuNumbers ring, const GpuNumbers& node, const RingEntry& entry,
                      bool any_order) {
  if (entry.entry >= ring.size()) return ring;
  if (has_mesh_chains(routes, node)) {
    ring.clear();
    for (const auto position : mesh_chain(node.size(), entry.entry)) ring.push_back(node[position]);
    return ring;
  }
  std::ranges::rotate(ring, std::ranges::find(ring, node[entry.entry]));
  if (any_order && entry.exit && *entry.exit < ring.size()) {
    const auto exit = std::ranges::find(ring, node[*entry.exit]);
    std::rotate(exit, exit + 1, ring.end());
  }
  return ring;
}

/// Whether the GPUs have the same positions in their nodes. @pre nodes are alike
bool are_alike(const Platform& platform, const GpuNumbers& node, const GpuNumbers& other_node) {
  if (node.size() != other_node.size()) return false;
  const auto a_node =
      std::max<std::size_t>(1, platform.gpus.size() / static_cast<std::size_t>(platform.nodes));
  return std::ranges::equal(
      node, other_node, {}, [&](auto gpu) { return gpu % a_node; }, [&](auto gpu) { return gpu % a_node; });
}

/// A ring for each node; nodes with the same GPUs as the first node have its order.
Nodes node_rings(const Routes& routes, const Nodes& nodes, bool relays) {
  Nodes rings;
  for (const auto& node : nodes) {
    if (rings.empty() || !are_alike(routes.platform(), node, nodes.front())) {
      rings.push_back(nvlink_rings(routes, node, relays).front());
      continue;
    }
    auto& ring = rings.emplace_back(rings.front());
    for (auto& gpu : ring) gpu += node.front() - nodes.front().front();
  }
  return rings;
}

/// The parent of a node in the tree of `count` nodes; empty for the root.
std::optional<std::size_t> parent_by_bits(std::size_t node, std::size_t count) {
  if (node == 0) return std::nullopt;
  const auto bit = node & (~node + 1);
  const auto up = (node ^ bit) | (bit << 1);
  return up >= count ? node ^ bit : up;
}

/// The same in the second tree of a pair.
std::optional<std::size_t> parent_in_second(std::size_t node, std::size_t count) {
  const bool mirrors = count % 2 == 0;
  const auto parent = parent_by_bits(mirrors ? count - 1 - node : (node + count - 1) % count, count);
  if (!parent) return std::nullopt;
  return mirrors ? count - 1 - *parent : (*parent + 1) % count;
}

/// Calls `add(tree, child, parent)` with the numbers of nodes.
template <class Add>
void for_each_edge(std::size_t nodes, std::size_t rails, const Add& add) {
  for (std::size_t tree = 0; tree < 2 * rails; ++tree) {
    for (std::size_t node = 0; node < nodes; ++node) {
      const auto parent = tree % 2 == 0 ? parent_by_bits(node, nodes) : parent_in_second(node, nodes);
      if (parent) add(tree, node, *parent);
    }
  }
}

/// The GPU near a tree's NIC.
std::size_t head(const Routes& routes, const GpuNumbers& ring, const GpuNumbers& node,
                 const std::vector<RingEntry>& entries, std::size_t tree) {
  if (entries.empty()) return ring.front();
  return rotated_to(routes, ring, node, entries[tree / 2], false).front();
}

}  // namespace

bool has_mesh_chains(const Routes& routes, const GpuNumbers& node) {
  const bool is_amd = routes.platform().gpu_models.front().is_amd();
  return is_amd && node.size() % 2 == 0 && mesh_links(routes, node) > 0;
}

GpuNumbers first_gpus(int count) {
  GpuNumbers gpus(static_cast<std::size_t>(count));
  std::iota(gpus.begin(), gpus.end(), std::size_t{0});
  return gpus;
}

Nodes gpus_by_domain(const Platform& platform, const GpuNumbers& gpus) {
  Nodes nodes;
  std::map<int, std::size_t> known;
  auto place = known.end();  // most GPUs follow others of their domain
  for (const auto gpu : gpus) {
    const auto domain = platform.nvlink_domain(platform.gpus[gpu]);
    if (place == known.end() || place->first != domain) place = known.try_emplace(domain, nodes.size()).first;
    if (place->second == nodes.size()) nodes.emplace_back();
    nodes[place->second].push_back(gpu);
  }
  return nodes;
}

int node_count(const Platform& platform, int gpus) {
  const auto last = static_cast<std::size_t>(gpus) - 1;
  expects(last < platform.gpus.size(), "the platform has these GPUs");
  return platform.device(platform.gpus[last]).node + 1;
}

Nodes ring_orders(const Routes& routes, const GpuNumbers& gpus, bool relays, bool alternates) {
  const auto nodes = gpus_by_domain(routes.platform(), gpus);
  if (nodes.size() == 1) return nvlink_rings(routes, nodes.front(), relays);
  const auto rings = node_rings(routes, nodes, relays);
  const bool any_order = !has_direct_nvlinks(routes, nodes.front());
  auto entries = ring_entries(routes, nodes.front());
  if (entries.empty()) entries.emplace_back();
  if (alternates) pair_up(entries);
  Nodes orders;
  for (std::size_t ring = 0; ring < entries.size(); ++ring) {
    auto& order = orders.emplace_back();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto& entry = entries[alternates && i % 2 == 1 ? ring ^ 1 : ring];
      std::ranges::copy(rotated_to(routes, rings[i], nodes[i], entry, any_order), std::back_inserter(order));
    }
  }
  return orders;
}

std::vector<std::size_t> ring_rails(const Routes& routes, const GpuNumbers& first_node) {
  std::vector<std::size_t> rails;
  for (const auto& entry : ring_entries(routes, first_node)) rails.push_back(entry.nic);
  if (rails.empty()) rails.push_back(0);
  return rails;
}

std::vector<std::vector<Edge>> tree_edges_between_nodes(const Routes& routes, const GpuNumbers& gpus,
                                                        bool relays) {
  const auto nodes = gpus_by_domain(routes.platform(), gpus);
  if (nodes.size() == 1) return {};
  const auto rings = node_rings(routes, nodes, relays);
  const auto entries = ring_entries(routes, nodes.front());
  const auto rails = std::max<std::size_t>(1, entries.size());
  std::vector<std::vector<Edge>> trees(2 * rails);
  for_each_edge(nodes.size(), rails, [&](std::size_t tree, std::size_t child, std::size_t parent) {
    trees[tree].push_back({head(routes, rings[child], nodes[child], entries, tree),
                           head(routes, rings[parent], nodes[parent], entries, tree)});
  });
  return trees;
}

std::array<std::vector<std::uint32_t>, 2> tree_degrees(std::size_t nodes) {
  std::array<std::vector<std::uint32_t>, 2> degrees;
  degrees.fill(std::vector<std::uint32_t>(nodes, 0));
  for_each_edge(nodes, 1, [&](std::size_t tree, std::size_t child, std::size_t parent) {
    ++degrees[tree][child];
    ++degrees[tree][parent];
  });
  return degrees;
}

std::vector<std::vector<Edge>> tree_edges(const Routes& routes, const GpuNumbers& gpus, bool relays) {
  const auto nodes = gpus_by_domain(routes.platform(), gpus);
  auto trees = tree_edges_between_nodes(routes, gpus, relays);
  if (trees.empty()) trees.emplace_back();
  const auto rings = node_rings(routes, nodes, relays);
  const auto entries = nodes.size() == 1 ? std::vector<RingEntry>{} : ring_entries(routes, nodes.front());
  for (std::size_t tree = 0; tree < trees.size(); ++tree) {
    for (std::size_t node = 0; node < nodes.size(); ++node) {
      const auto chain = entries.empty()
                             ? rings[node]
                             : rotated_to(routes, rings[node], nodes[node], entries[tree / 2], false);
      for (std::size_t i = 1; i < chain.size(); ++i) trees[tree].push_back({chain[i], chain[i - 1]});
    }
  }
  return trees;
}

}  // namespace gradway
