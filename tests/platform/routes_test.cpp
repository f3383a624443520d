// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include <catch2/catch.hpp>

#include "sim/platform/data_paths.hpp"
#include "sim/platform/routes.hpp"
#include "tests/support/builders.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

constexpr int unreached = std::numeric_limits<int>::max();

bool is_endpoint(const Platform& platform, DeviceId id) {
  const auto kind = platform.device(id).kind;
  return kind == DeviceKind::gpu || kind == DeviceKind::nic;
}

bool allowed(LinkKind kind, Routes::Over over) {
  switch (over) {
    case Routes::Over::nvlink:
      return kind == LinkKind::nvlink;
    case Routes::Over::host:
      return kind == LinkKind::pcie || kind == LinkKind::inter_socket;
    case Routes::Over::network:
      return kind == LinkKind::network;
    case Routes::Over::any:
      break;
  }
  return true;
}

/// A route by its definition: counts hops to the end over the whole platform, then follows links that reduce
/// them, selected by the label. @return names of the resources, or "none"
std::string by_definition(const Platform& platform, DeviceId from, DeviceId to, Routes::Over over,
                          bool through_endpoints, std::size_t label) {
  std::vector<int> hops(platform.devices.size(), unreached);
  hops[to.index()] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& link : platform.links) {
      if (!allowed(link.kind, over) || hops[link.to.index()] == unreached) continue;
      if (!through_endpoints && link.to != to && is_endpoint(platform, link.to)) continue;
      if (hops[link.from.index()] <= hops[link.to.index()] + 1) continue;
      hops[link.from.index()] = hops[link.to.index()] + 1;
      changed = true;
    }
  }
  if (hops[from.index()] == unreached) return "none";
  std::string names;
  for (auto at = from; at != to;) {
    std::vector<const Link*> onward;
    for (const auto& link : platform.links) {
      if (link.from != at || !allowed(link.kind, over) || hops[link.to.index()] != hops[at.index()] - 1)
        continue;
      if (!through_endpoints && link.to != to && is_endpoint(platform, link.to)) continue;
      onward.push_back(&link);
    }
    const auto* link = onward[label % onward.size()];
    names += platform.name_of(link->resource) + "; ";
    at = link->to;
  }
  return names;
}

std::string by_definition(const Platform& platform, DeviceId from, DeviceId to, Routes::Over over,
                          std::size_t label) {
  const auto direct = by_definition(platform, from, to, over, false, label);
  return direct != "none" ? direct : by_definition(platform, from, to, over, true, label);
}

std::string found(const Routes& routes, DeviceId from, DeviceId to, Routes::Over over, std::size_t label) {
  const auto route = routes.find(from, to, over, label);
  if (!route) return "none";
  std::string names;
  for (const auto* link : route->links) names += routes.platform().name_of(link->resource) + "; ";
  return names;
}

FabricDescription fabric(FabricDescription::Kind kind) {
  auto fabric = star_fabric();
  fabric.kind = kind;
  fabric.nodes_per_leaf = 2;
  fabric.spines = 3;
  fabric.uplink_bandwidth = 50_GBps;
  return fabric;
}

/// Two equal NVLinks between neighbours, which labels distinguish.
NodeDescription cubes() {
  auto node = tree_node();
  node.links.push_back(link("gpu0", "gpu1", LinkKind::nvlink, 50_GBps));
  node.links.push_back(link("gpu1", "gpu0", LinkKind::nvlink, 50_GBps));
  node.links.push_back(link("gpu1", "gpu2", LinkKind::nvlink, 50_GBps));
  node.links.push_back(link("gpu0", "gpu3", LinkKind::nvlink, 50_GBps));
  node.links.push_back(link("gpu3", "gpu2", LinkKind::nvlink, 50_GBps));
  return node;
}

}  // namespace

TEST_CASE("routes are shortest paths for every pair, kind of link and label", "[platform]") {
  using Kind = FabricDescription::Kind;
  const auto kind = GENERATE(Kind::star, Kind::leaf_spine, Kind::rail_optimised);
  const bool has_switches = GENERATE(true, false);
  const auto platform = built_platform(has_switches ? nvswitch_node(2) : cubes(), 5, fabric(kind));
  const Routes routes{platform};
  std::size_t wrong = 0;
  for (std::size_t a = 0; a < platform.devices.size(); ++a) {
    for (std::size_t b = 0; b < platform.devices.size(); b += 1 + (a % 3)) {
      for (const auto over :
           {Routes::Over::nvlink, Routes::Over::host, Routes::Over::network, Routes::Over::any}) {
        const auto label = (a + b) % 5;
        const auto is = found(routes, DeviceId{a}, DeviceId{b}, over, label);
        const auto should = by_definition(platform, DeviceId{a}, DeviceId{b}, over, label);
        if (is != should && ++wrong < 4) {
          CAPTURE(platform.name_of(DeviceId{a}), platform.name_of(DeviceId{b}), static_cast<int>(over),
                  label);
          CHECK(is == should);
        }
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("nodes are identical in names, links and resources but for their number", "[platform]") {
  const auto platform = built_platform(tree_node(), 3, star_fabric());
  const auto& size = platform.node_size;
  CHECK(size.devices * 3 + 1 == platform.devices.size());
  CHECK(size.resources * 3 + 6 == platform.resources.size());
  const auto renamed = [](std::string name) {
    for (auto at = name.find("node0."); at != std::string::npos; at = name.find("node0.")) name[at + 4] = '2';
    return name;
  };
  for (std::size_t i = 0; i < size.resources; ++i) {
    const auto there = i + 2 * size.resources;
    CHECK(platform.name_of(ResourceId{there}) == renamed(platform.name_of(ResourceId{i})));
    CHECK(platform.resources[there].capacity == platform.resources[i].capacity);
  }
  for (std::size_t i = 0; i < size.links; ++i) {
    const auto& link = platform.links[i + 2 * size.links];
    CHECK(platform.name_of(link.from) == renamed(platform.name_of(platform.links[i].from)));
    CHECK(platform.resources[link.resource.index()].of == i + 2 * size.links);
  }
  CHECK(platform.name_of(platform.gpus[13]) == "node2.gpu1");
  CHECK(platform.name_of(platform.gpu_resources[13]) == "node2.gpu1");
  CHECK(platform.name_of(*platform.memories[2 * size.devices + 6]) == "node2.cpu0 memory");
}

TEST_CASE("a part is found under its own socket on every node", "[platform]") {
  const auto platform = built_platform(tree_node(), 3, star_fabric());
  const Routes routes{platform};
  for (const std::size_t node : {1, 0, 2}) {
    const auto socket = routes.home_socket(platform.gpus[6 * node + 4]);
    REQUIRE(socket);
    CHECK(platform.name_of(*socket) == "node" + std::to_string(node) + ".cpu1");
  }
}

TEST_CASE("reads over the network use the nearest NIC, and GPUs are spread over equally near NICs",
          "[platform]") {
  const auto way = [](const Platform& platform, std::size_t gpu) {
    std::vector<std::string> names;
    const auto found = path_over_nic(Routes{platform}, platform.gpus[gpu]);
    for (const auto id : found.value_or(std::vector<ResourceId>{})) names.push_back(platform.name_of(id));
    return names;
  };
  using Names = std::vector<std::string>;
  const auto near = built_platform(nvswitch_node(2), 2, star_fabric());
  CHECK(way(near, 1) ==
        Names{"fabric -> node0.nic1", "node0.nic1 -> node0.plx1", "node0.plx1 -> node0.cpu0"});
  CHECK(way(near, 2) ==
        Names{"fabric -> node1.nic0", "node1.nic0 -> node1.plx0", "node1.plx0 -> node1.cpu0"});
  // Two NICs and two GPUs below one switch. Without a network there are only links within the node.
  auto alike = nvswitch_node(2);
  alike.links = {link("gpu[0-1]", "plx0", LinkKind::pcie, 25_GBps),
                 link("nic[0-1]", "plx0", LinkKind::pcie, 25_GBps),
                 link("plx[0-1]", "cpu0", LinkKind::pcie, 25_GBps),
                 link("gpu[0-1]", "nvswitch", LinkKind::nvlink, 300_GBps, 12)};
  CHECK(way(built_platform(alike), 0) == Names{"nic0 -> plx0", "plx0 -> cpu0"});
  CHECK(way(built_platform(alike), 1) == Names{"nic1 -> plx0", "plx0 -> cpu0"});
  auto none = nvswitch_node(2);
  none.nics.clear();
  std::erase_if(none.links, [](const auto& one) { return one.from.text.starts_with("nic"); });
  CHECK(way(built_platform(none), 0).empty());
}
