// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "readers/topology/node_layout.hpp"

using namespace gradway;

namespace {

NodeLayout layout_of(std::string_view text, const NvlinkFacts& nvlinks = {}) {
  return node_layout(read_topology_matrix(text, "topo.txt"), nvlinks);
}

/// Parents of a device, such as "plx0 rc0 cpu0".
std::string way_up(const NodeLayout& layout, std::size_t device) {
  std::vector<std::string> names;
  for (const auto part : layout.above(device)) names.push_back(layout.parts[part].name);
  return fmt::format("{}", fmt::join(names, " "));
}

/// The GPUs behind NVSwitches, each with its number of NVLinks.
std::string switches_of(const NodeLayout& layout) {
  std::vector<std::string> gpus;
  for (const auto& each : layout.switched) gpus.push_back(fmt::format("{}:{}", each.gpu, each.links));
  return fmt::format("{}", fmt::join(gpus, " "));
}

}  // namespace

TEST_CASE("the cells of a device describe the parts that it shares with others", "[import]") {
  const auto layout = layout_of(
      "GPU0 GPU1 GPU2 GPU3 GPU4 GPU5 GPU6\n"
      "GPU0 X PIX PXB PHB NODE SYS SYS\n"
      "GPU1 PIX X PXB PHB NODE SYS SYS\n"
      "GPU2 PXB PXB X PHB NODE SYS SYS\n"
      "GPU3 PHB PHB PHB X NODE SYS SYS\n"
      "GPU4 NODE NODE NODE NODE X SYS SYS\n"
      "GPU5 SYS SYS SYS SYS SYS X NODE\n"
      "GPU6 SYS SYS SYS SYS SYS NODE X\n");
  CHECK(way_up(layout, 0) == "plx1 plx0 rc0 cpu0");
  CHECK(way_up(layout, 1) == "plx1 plx0 rc0 cpu0");
  CHECK(way_up(layout, 2) == "plx2 plx0 rc0 cpu0");
  CHECK(way_up(layout, 3) == "rc0 cpu0");
  CHECK(way_up(layout, 4) == "rc1 cpu0");
  CHECK(way_up(layout, 5) == "rc2 cpu1");
  CHECK(way_up(layout, 6) == "rc3 cpu1");
  CHECK(layout.remarks.empty());
}

TEST_CASE("with NVLinks, PCIe is inferred from NICs and NUMA nodes", "[import]") {
  const auto layout = layout_of(
      "GPU0 GPU1 GPU2 mlx5_0 CPU Affinity NUMA Affinity\n"
      "GPU0 X NV12 NV12 PIX 0-3 3\nGPU1 NV12 X NV12 PIX 0-3 3\nGPU2 NV12 NV12 X SYS 4-7 1\nmlx5_0 PIX PIX "
      "SYS X\n");
  CHECK(way_up(layout, 0) == "plx0 rc0 cpu1");
  CHECK(way_up(layout, 1) == "plx0 rc0 cpu1");
  CHECK(way_up(layout, 2) == "rc1 cpu0");
  CHECK(way_up(layout, 3) == "plx0 rc0 cpu1");
  CHECK(layout.parts[layout.socket_of(2)].numa_node == 1);
}

TEST_CASE("devices of one NUMA node that are SYS to each other stay on its socket", "[import]") {
  const auto layout = layout_of("GPU0 GPU1 CPU Affinity NUMA Affinity\nGPU0 X SYS 0-3 0\nGPU1 SYS X 0-3 0\n");
  CHECK(way_up(layout, 1) == "rc1 cpu0");
  CHECK(layout.remarks ==
        std::vector<std::string>{"the matrix shows SYS between devices of one NUMA node: they are assumed to "
                                 "reach its memory over links like those between sockets"});
  CHECK(type_in_tree(layout, 0, 1) == PathType::sys);
}

TEST_CASE("an NVSwitch is distinguished from a mesh and from bridges", "[import]") {
  const std::string four =
      "GPU0 GPU1 GPU2 GPU3\nGPU0 X NV4 NV4 NV4\nGPU1 NV4 X NV4 NV4\nGPU2 NV4 NV4 X NV4\n"
      "GPU3 NV4 NV4 NV4 X\n";
  CHECK(switches_of(layout_of(four, {.of_each_gpu = 4})) == "0:4 1:4 2:4 3:4");
  CHECK(switches_of(layout_of(four)) == "0:4 1:4 2:4 3:4");
  const auto mesh = layout_of(four, {.of_each_gpu = 12});
  CHECK(mesh.switched.empty());
  CHECK(mesh.pairs.size() == 6);

  const std::string two = "GPU0 GPU1\nGPU0 X NV18\nGPU1 NV18 X\n";
  CHECK(layout_of(two, {.of_each_gpu = 18}).pairs.size() == 1);
  CHECK(switches_of(layout_of(two, {.of_each_gpu = 18, .has_switch = true})) == "0:18 1:18");

  const auto bridges = layout_of("GPU0 GPU1 GPU2\nGPU0 X NV4 SYS\nGPU1 NV4 X SYS\nGPU2 SYS SYS X\n");
  CHECK(bridges.switched.empty());
  REQUIRE(bridges.pairs.size() == 1);
  CHECK(bridges.pairs[0].other == 1);
  CHECK(way_up(bridges, 1) == "rc1 cpu0");
  CHECK(way_up(bridges, 2) == "rc2 cpu1");
}

TEST_CASE("GPUs whose links to each other are more than they have are behind an NVSwitch", "[import]") {
  const auto one_lost = layout_of(
      "GPU0 GPU1 GPU2 GPU3\nGPU0 X NV18 NODE NV18\nGPU1 NV18 X NODE NV18\nGPU2 NODE NODE X NODE\n"
      "GPU3 NV18 NV18 NODE X\n",
      {.of_each_gpu = 18});
  CHECK(switches_of(one_lost) == "0:18 1:18 3:18");
  CHECK(one_lost.pairs.empty());
  CHECK(one_lost.remarks ==
        std::vector<std::string>{"gpu2 has no NVLinks, but 3 of the 4 GPUs are on an NVSwitch: check "
                                 "'nvidia-smi nvlink -s' and the fabric manager"});
  const std::string boards =
      "GPU0 GPU1 GPU2 GPU3 GPU4 GPU5\nGPU0 X NV6 NV6 SYS SYS SYS\nGPU1 NV6 X NV6 SYS SYS SYS\n"
      "GPU2 NV6 NV6 X SYS SYS SYS\nGPU3 SYS SYS SYS X NV6 NV6\nGPU4 SYS SYS SYS NV6 X NV6\n"
      "GPU5 SYS SYS SYS NV6 NV6 X\n";
  const auto two_switches = layout_of(boards, {.of_each_gpu = 6});
  CHECK(switches_of(two_switches) == "0:6 1:6 2:6 3:6 4:6 5:6");
  CHECK(two_switches.switched[2].nvswitch == "nvswitch0");
  CHECK(two_switches.switched[3].nvswitch == "nvswitch1");
  CHECK(two_switches.remarks.empty());
  const auto two_meshes = layout_of(boards, {.of_each_gpu = 12});
  CHECK(two_meshes.switched.empty());
  CHECK(two_meshes.pairs.size() == 6);
}

TEST_CASE("NICs that are far from all GPUs make no third socket", "[import]") {
  const auto layout = layout_of(
      "GPU0 GPU1 NIC0 NIC1 CPU Affinity NUMA Affinity\nGPU0 X SYS SYS SYS 0-3 0\nGPU1 SYS X SYS SYS 4-7 1\n"
      "NIC0 SYS SYS X SYS\nNIC1 SYS SYS SYS X\n");
  CHECK(layout.of_kind(DeviceKind::socket).size() == 2);
  CHECK(layout.name(layout.socket_of(2)) == "cpu1");
  CHECK(layout.remarks == std::vector<std::string>{
                              "NIC0 is SYS to all GPUs: it is assumed to be on cpu1; and 1 more such NICs"});
  for (std::size_t device = 1; device < 4; ++device) CHECK(type_in_tree(layout, 0, device) == PathType::sys);
  CHECK(type_in_tree(layout, 1, 2) == PathType::sys);
  CHECK(type_in_tree(layout, 2, 3) == PathType::sys);
}

TEST_CASE("the matrix takes precedence over NUMA nodes, with a warning", "[import]") {
  const auto layout = layout_of("GPU0 GPU1 CPU Affinity NUMA Affinity\nGPU0 X PHB 0-3 0\nGPU1 PHB X 0-3 1\n");
  CHECK(way_up(layout, 1) == "rc0 cpu0");
  CHECK(layout.remarks == std::vector<std::string>{"gpu1 belongs to NUMA node 1, but is nearer than SYS to "
                                                   "devices of node 0: it is assumed to be on their socket"});
}

TEST_CASE("two groups of one NUMA node that are SYS to each other have a root complex each above theirs",
          "[import]") {
  const auto layout = layout_of(
      "GPU0 GPU1 GPU2 GPU3 CPU Affinity NUMA Affinity\n"
      "GPU0 X NODE SYS SYS 0-3 0\nGPU1 NODE X SYS SYS 0-3 0\nGPU2 SYS SYS X NODE 0-3 0\nGPU3 SYS SYS NODE X "
      "0-3 0\n");
  CHECK(way_up(layout, 0) == "rc1 rc0 cpu0");
  CHECK(way_up(layout, 1) == "rc2 rc0 cpu0");
  CHECK(way_up(layout, 3) == "rc5 rc3 cpu0");
  CHECK(type_in_tree(layout, 0, 1) == PathType::node);
  CHECK(type_in_tree(layout, 1, 2) == PathType::sys);
}

TEST_CASE("NICs without a GPU nearby are attached to their own parts", "[import]") {
  const auto layout = layout_of(
      "GPU0 NIC0 NIC1 NIC2 NIC3 CPU Affinity NUMA Affinity\n"
      "GPU0 X NODE PXB PXB SYS 0-3 0\nNIC0 NODE X NODE NODE SYS\nNIC1 PXB NODE X PXB SYS\nNIC2 PXB NODE PXB "
      "X SYS\n"
      "NIC3 SYS SYS SYS SYS X\n\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: gpu7\n  NIC2: bond\n  NIC3: "
      "mlx5_0\n");
  CHECK(layout.remarks.empty());
  CHECK(way_up(layout, 1) == "rc1 cpu0");
  CHECK(way_up(layout, 2) == "plx0 rc0 cpu0");
  CHECK(way_up(layout, 3) == "plx2 plx0 rc0 cpu0");
  CHECK(way_up(layout, 4) == "rc2 cpu1");
  CHECK(layout.name(2) == "nic_gpu7");
  CHECK(layout.name(3) == "nic_bond");
  CHECK(layout.name(4) == "mlx5_0_2");
  const auto bare = without_nics(layout);
  CHECK(bare.nics == 0);
  CHECK(way_up(bare, 0) == "plx1 plx0 rc0 cpu0");
  CHECK(bare.parts.size() == 5);
}
