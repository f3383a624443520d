// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/import/lay_out.hpp"

using namespace gradway;

namespace {

NodeLayout layout_of(std::string_view text, const NvlinkFacts& nvlinks = {}) {
  return lay_out(read_topology_matrix(text, "topo.txt"), nvlinks);
}

/// "plx0 rc0 cpu0": what a device hangs on.
std::string way_up(const NodeLayout& layout, std::size_t device) {
  std::vector<std::string> names;
  for (const auto part : layout.above(device)) names.push_back(layout.parts[part].name);
  return fmt::format("{}", fmt::join(names, " "));
}

}  // namespace

TEST_CASE("a device's cells say what it shares with others", "[import]") {
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

TEST_CASE("NVLinks hide what PCIe is like: NICs and NUMA nodes tell", "[import]") {
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

TEST_CASE("NUMA nodes win over the matrix, which is told", "[import]") {
  const auto layout = layout_of("GPU0 GPU1 CPU Affinity NUMA Affinity\nGPU0 X SYS 0-3 0\nGPU1 SYS X 0-3 0\n");
  CHECK(way_up(layout, 1) == "rc1 cpu0");
  CHECK(layout.remarks ==
        std::vector<std::string>{"the matrix shows SYS between gpu0 and gpu1, which its other "
                                 "cells and NUMA nodes make NODE"});
}

TEST_CASE("an NVSwitch is told from a mesh and from bridges", "[import]") {
  const std::string four =
      "GPU0 GPU1 GPU2 GPU3\nGPU0 X NV4 NV4 NV4\nGPU1 NV4 X NV4 NV4\nGPU2 NV4 NV4 X NV4\n"
      "GPU3 NV4 NV4 NV4 X\n";
  CHECK(layout_of(four, {.of_each_gpu = 4}).switched == 4);
  CHECK(layout_of(four).switched == 4);
  const auto mesh = layout_of(four, {.of_each_gpu = 12});
  CHECK(mesh.switched == 0);
  CHECK(mesh.pairs.size() == 6);

  const std::string two = "GPU0 GPU1\nGPU0 X NV18\nGPU1 NV18 X\n";
  CHECK(layout_of(two, {.of_each_gpu = 18}).pairs.size() == 1);
  CHECK(layout_of(two, {.of_each_gpu = 18, .has_switch = true}).switched == 18);

  const auto bridges = layout_of("GPU0 GPU1 GPU2\nGPU0 X NV4 SYS\nGPU1 NV4 X SYS\nGPU2 SYS SYS X\n");
  CHECK(bridges.switched == 0);
  REQUIRE(bridges.pairs.size() == 1);
  CHECK(bridges.pairs[0].other == 1);
  CHECK(way_up(bridges, 1) == "rc1 cpu0");
  CHECK(way_up(bridges, 2) == "rc2 cpu1");
}
