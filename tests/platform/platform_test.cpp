// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/platform/data_paths.hpp"
#include "sim/platform/routes.hpp"
#include "tests/support/builders.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

std::string names(const Platform& platform, const std::vector<ResourceId>& path) {
  std::string all;
  for (const auto resource : path) all += (all.empty() ? "" : ", ") + platform.name_of(resource);
  return all;
}

std::string way(const Platform& platform, std::size_t from, std::size_t to, Routes::Over over) {
  const Routes routes{platform};
  std::vector<ResourceId> path;
  const auto route = routes.find(platform.gpus[from], platform.gpus[to], over);
  if (!route) return "none";
  route->append_resources(path);
  return names(platform, path);
}

std::string error_of(const NodeDescription& node) {
  try {
    built_platform(node);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("each direction of a connection is a separate resource") {
  const auto platform = ring_platform(3, 50_GBps, 1_us);
  CHECK(platform.gpus.size() == 3);
  CHECK(platform.links.size() == 6);
  CHECK(way(platform, 0, 1, Routes::Over::any) == "gpu0 -> gpu1");
  CHECK(way(platform, 1, 0, Routes::Over::any) == "gpu1 -> gpu0");
}

TEST_CASE("a ring of two GPUs has one link, a ring of one has none") {
  CHECK(ring_platform(2, 50_GBps, 1_us).links.size() == 2);
  CHECK(ring_platform(1, 50_GBps, 1_us).links.empty());
}

TEST_CASE("path types are those of nvidia-smi topo -m") {
  const auto platform = built_platform(tree_node());
  const Routes routes{platform};
  const auto type = [&](std::size_t a, std::size_t b) {
    return routes.path_type(platform.gpus[a], platform.gpus[b]);
  };
  CHECK(type(0, 0) == PathType::self);
  CHECK(type(0, 1) == PathType::pix);
  CHECK(type(0, 2) == PathType::pxb);
  CHECK(type(0, 3) == PathType::node);
  CHECK(type(4, 5) == PathType::phb);
  CHECK(type(0, 4) == PathType::sys);
  for (std::size_t a = 0; a < 6; ++a) {
    for (std::size_t b = 0; b < 6; ++b) CHECK(type(a, b) == type(b, a));
  }
}

TEST_CASE("a route below a switch does not touch the host") {
  const auto platform = built_platform(tree_node());
  CHECK(way(platform, 0, 1, Routes::Over::host) == "gpu0 -> plx0, plx0 -> gpu1");
  CHECK(way(platform, 0, 4, Routes::Over::host) ==
        "gpu0 -> plx0, plx0 -> plx2, plx2 -> rc0, rc0 -> cpu0, cpu0 -> cpu1, cpu1 -> rc2, rc2 -> gpu4");
  CHECK(way(platform, 0, 1, Routes::Over::nvlink) == "none");
}

TEST_CASE("NVLink is preferred and counted") {
  const auto platform = built_platform(nvswitch_node(4));
  const Routes routes{platform};
  CHECK(routes.path_type(platform.gpus[0], platform.gpus[3]) == PathType::nvlink);
  CHECK(routes.nvlinks(platform.gpus[0], platform.gpus[3]) == 12);
  CHECK(topo_label(PathType::nvlink, 12) == "NV12");
  CHECK(way(platform, 0, 3, Routes::Over::nvlink) == "gpu0 -> nvswitch, nvswitch -> gpu3");
}

TEST_CASE("NVLink paths do not pass through other GPUs") {
  NodeDescription node;
  node.gpus = 3;
  node.links = {link("gpu0", "gpu1", LinkKind::nvlink, 50_GBps, 2),
                link("gpu1", "gpu2", LinkKind::nvlink, 50_GBps, 2)};
  const auto platform = built_platform(node);
  const Routes routes{platform};
  CHECK(routes.nvlinks(platform.gpus[0], platform.gpus[1]) == 2);
  CHECK(routes.nvlinks(platform.gpus[0], platform.gpus[2]) == 0);
}

TEST_CASE("a copy to a GPU starts in the memory of its own socket") {
  const auto platform = built_platform(tree_node());
  const Routes routes{platform};
  CHECK(names(platform, path_from_host(routes, platform, 4)->resources) ==
        "cpu1 memory, cpu1 -> rc2, rc2 -> gpu4");
  CHECK(path_from_host(routes, platform, 4)->slowest == 25_GBps);
  const auto ring = ring_platform(2, 50_GBps, 1_us);
  CHECK_FALSE(path_from_host(Routes{ring}, ring, 0).has_value());
}

TEST_CASE("nodes are connected by the fabric through their NICs") {
  const auto star = built_platform(nvswitch_node(2), 3, star_fabric());
  CHECK(star.gpus.size() == 6);
  CHECK(star.nodes == 3);
  const Routes routes{star};
  CHECK(routes.path_type(star.gpus[0], star.gpus[2]) == PathType::net);
  std::vector<ResourceId> path;
  const auto nic = [&](const std::string& name) {
    for (std::size_t i = 0; i < star.devices.size(); ++i) {
      if (star.name_of(DeviceId{i}) == name) return DeviceId{i};
    }
    throw std::runtime_error{name};
  };
  routes.find(nic("node0.nic1"), nic("node2.nic1"), Routes::Over::network)->append_resources(path);
  CHECK(names(star, path) == "node0.nic1 -> fabric, fabric -> node2.nic1");
}

TEST_CASE("flows between leaves are spread over the spines") {
  auto fabric = star_fabric();
  fabric.kind = FabricDescription::Kind::leaf_spine;
  fabric.nodes_per_leaf = 1;
  fabric.spines = 2;
  fabric.uplink_bandwidth = 50_GBps;
  const auto platform = built_platform(nvswitch_node(1), 2, fabric);
  const Routes routes{platform};
  const auto nic = [&](int node) {
    for (std::size_t i = 0; i < platform.devices.size(); ++i) {
      if (platform.devices[i].kind == DeviceKind::nic && platform.devices[i].node == node) return DeviceId{i};
    }
    throw std::runtime_error{"no NIC"};
  };
  const auto spine = [&](std::size_t label) {
    return platform.name_of(routes.find(nic(0), nic(1), Routes::Over::network, label)->links[1]->to);
  };
  CHECK(spine(0) == "spine0");
  CHECK(spine(1) == "spine1");
  CHECK(spine(2) == "spine0");
}

TEST_CASE("a generated leaf-spine has a leaf for each group and a link from each leaf to each spine") {
  PlatformDescription description;
  description.hardware =
      GeneratedPlatform{GeneratedPlatform::Topology::leaf_spine, 50_GBps, 1_us, 8, 4, 50_GBps};
  const auto platform = build_platform(description, ideal_gpu(), 20);
  CHECK(platform.gpus.size() == 20);
  CHECK(platform.links.size() == 2 * (20 + 3 * 4));
}

TEST_CASE("ranges of names are expanded, and invalid ones get a hint") {
  CHECK(expand({"gpu[2-4].x", {}}) == std::vector<std::string>{"gpu2.x", "gpu3.x", "gpu4.x"});
  CHECK(expand({"cpu0", {}}) == std::vector<std::string>{"cpu0"});
  for (const auto* bad : {"", "gpu[3-1]", "gpu[a-b]", "gpu[1", "gpu[-1-2]", "a b", "gpu[0-99999999]"}) {
    CHECK_THROWS_WITH((expand({bad, {}})),
                      Catch::Contains("is not a name or a range of names") && Catch::Contains("gpu[0-7]"));
  }
}

TEST_CASE("all problems of a node are reported together") {
  auto node = nvswitch_node(2);
  node.links.push_back(link("gpu7", "cpu0", LinkKind::pcie, 1_GBps));
  node.links.push_back(link("gpu[0-1]", "plx[0-0]", LinkKind::pcie, 1_GBps));
  node.links.push_back(link("gpu0", "gpu0", LinkKind::pcie, 1_GBps));
  node.pcie_switches.push_back({"lost", {}});
  node.sockets.push_back({{"cpu0", {}}, 1_GBps});
  CHECK(error_of(node) ==
        "error: duplicate name 'cpu0'\n  hint: each part of a node needs its own name\n"
        "error: the node has no part 'gpu7'\n  hint: did you mean 'gpu0'?\n"
        "error: 'gpu0' is linked to itself\n"
        "error: 'lost' has no link\n  hint: add it to 'links' or remove it\n");
  auto uneven = nvswitch_node(3);
  uneven.links.push_back(link("gpu[0-2]", "plx[0-1]", LinkKind::pcie, 1_GBps));
  CHECK(error_of(uneven) ==
        "error: 'gpu[0-2]' has 3 names and 'plx[0-1]' has 2, which cannot be paired\n"
        "  hint: give both ends the same number of names, or one end a single one\n");
}

TEST_CASE("several nodes without a NIC cannot reach each other") {
  auto node = nvswitch_node(1);
  node.nics.clear();
  node.links.erase(node.links.begin() + 2);
  CHECK_THROWS_WITH(built_platform(node, 2, star_fabric()),
                    Catch::Contains("2 nodes, but a node has no NIC"));
}
