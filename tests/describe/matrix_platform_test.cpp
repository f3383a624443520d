// SPDX-License-Identifier: Apache-2.0
#include "readers/describe/drafted_platform.hpp"

#include <catch2/catch.hpp>

#include "sim/files/text_file.hpp"
#include "tests/describe/read_back.hpp"

using namespace gradway;
using namespace gradway::test;
using Catch::Matchers::Contains;

namespace {

WrittenPlatform written(std::string_view text, const DescribedGpu& gpu = {"l40s", 89, ""}) {
  return matrix_platform(read_topology_matrix(text, "topo.txt"), gpu);
}

}  // namespace

TEST_CASE("a platform shows the matrix from which it was written, including NICs", "[describe]") {
  const std::string name =
      GENERATE("2gpu-nv4", "2gpu-phb", "4x-h200", "8gpu-bridge-pairs-empty-affinity",
               "8gpu-nvswitch-2numa-no-nic", "8gpu-nvswitch-4nic-device-names", "8gpu-nvswitch-8nic-legend",
               "8gpu-pcie-all-sys-2nic", "8gpu-pcie-node-sys");
  CAPTURE(name);
  const auto file = std::string{GRADWAY_SOURCE_DIR} + "/tests/readers/data/topo-" + name + ".txt";
  const auto matrix = read_topology_matrix(read_text_file(file).content, file);

  const auto result = matrix_platform(matrix, {"h200", 90, ""});

  const ReadBack node{result.yaml};
  REQUIRE(node.platform().gpus.size() == matrix.gpus);
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    for (std::size_t j = 0; j < matrix.size(); ++j) {
      CAPTURE(i, j);
      CHECK(node.cell(i, j) == topo_label(matrix.cells[i][j].type, matrix.cells[i][j].nvlinks));
    }
  }
  CHECK(matrix_platform(matrix, {"h200", 90, ""}).yaml == result.yaml);
}

TEST_CASE("links get the published rates of their kind", "[describe]") {
  const std::string matrix =
      "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV4\tPIX\t0-3\t0\nGPU1\tNV4\t X "
      "\tSYS\t4-7\t1\n"
      "NIC0\tPIX\tSYS\t X \n";
  const ReadBack ampere{written(matrix, {"a100-sxm-40gb", 80, ""}).yaml};
  CHECK(ampere.rate("plx0 -> gpu0") == Approx(26.2));
  CHECK(ampere.rate("gpu0 -> plx0") == Approx(26));
  CHECK(ampere.rate("cpu0 -> rc0") == Approx(26.2));
  CHECK(ampere.rate("plx0 -> NIC0") == Approx(26.2));
  CHECK(ampere.rate("gpu0 -> gpu1") == Approx(4 * 274.0 / 12).epsilon(1e-3));
  CHECK(ampere.rate("cpu0 -> cpu1") == Approx(10));
  CHECK(ampere.memory("cpu1") == Approx(204.8));
  const ReadBack hopper{written(matrix, {"h200", 90, ""}).yaml};
  CHECK(hopper.rate("rc1 -> gpu1") == Approx(55.4));
  CHECK(hopper.rate("gpu1 -> gpu0") == Approx(4 * 396.4 / 18).epsilon(1e-3));
  CHECK(hopper.rate("cpu1 -> cpu0") == Approx(22));
}

TEST_CASE("GPUs of an NVSwitch that lost one reach it with the rate of their links", "[describe]") {
  const auto result = written(
      "GPU0 GPU1 GPU2 GPU3\nGPU0 X NV18 NODE NV18\nGPU1 NV18 X NODE NV18\nGPU2 NODE NODE X NODE\n"
      "GPU3 NV18 NV18 NODE X\n",
      {"b200", 100, ""});
  const ReadBack node{result.yaml};
  CHECK(node.rate("gpu3 -> nvswitch") == Approx(746.7).epsilon(1e-3));
  CHECK(node.cell(0, 3) == "NV18");
  CHECK(node.cell(0, 2) == "NODE");
  CHECK_THAT(result.warnings.at(0), Contains("gpu2 has no NVLinks"));
}

TEST_CASE("a GPU of Grace is attached to it by C2C", "[describe]") {
  const auto result = written(
      "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV18\t0-71\t0,2-9\nGPU1\tNV18\t X "
      "\t72-143\t1,10-17\n",
      {"gb200", 100, ""});
  const ReadBack node{result.yaml};
  CHECK(node.rate("rc0 -> gpu0") == Approx(359.05).epsilon(1e-3));
  CHECK(node.rate("gpu1 -> rc1") == Approx(377.15).epsilon(1e-3));
  CHECK(node.memory("cpu1") == Approx(512));
  CHECK_THAT(result.yaml, Contains("cpu_vendor: arm\n"));
}

TEST_CASE("the driver refuses P2P over PCIe between cards for consumers", "[describe]") {
  const std::string matrix = "GPU0 GPU1\nGPU0 X PIX\nGPU1 PIX X\n";
  const auto consumer = written(matrix, {"rtx-4090", 89, ""});
  CHECK(ReadBack{consumer.yaml}.cell(0, 1) == "PHB");
  CHECK_THAT(consumer.warnings.at(0), Contains("the driver refuses P2P between these GPUs"));
  CHECK(ReadBack{written(matrix, {"rtx-6000-ada", 89, ""}).yaml}.cell(0, 1) == "PIX");
}

TEST_CASE("a host bridge has the rate of all its ports, a switch that of one slot", "[describe]") {
  const ReadBack phb{written("GPU0 GPU1\nGPU0 X PHB\nGPU1 PHB X\n").yaml};
  CHECK(phb.rate("cpu0 -> rc0") == Approx(52.4));
  const ReadBack pix{written("GPU0 GPU1\nGPU0 X PIX\nGPU1 PIX X\n").yaml};
  CHECK(pix.rate("rc0 -> plx0") == Approx(26.2));
}

TEST_CASE("assumptions are marked, and the file describes how to add nodes", "[describe]") {
  const auto result = written("GPU0 mlx5_0 mlx5_1\nGPU0 X PHB PHB\nmlx5_0 PHB X PIX\nmlx5_1 PHB PIX X\n",
                              {"l40s", 89, "Given with --gpu."});
  CHECK(result.warnings.empty());
  CHECK_THAT(result.yaml,
             Contains("\n# Given with --gpu.\ngpu: l40s\n") &&
                 Contains("# The vendor of the CPUs is unknown (the matrix does not contain it)") &&
                 Contains("Assumed, as the slot is unknown: PCIe Gen4 x16") &&
                 Contains("The line rate is unknown.") && Contains("  nics: [\"mlx5_[0-1]\"]\n") &&
                 Contains("\n# nodes: as_needed\n"));
}
