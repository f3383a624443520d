// SPDX-License-Identifier: Apache-2.0
#include "readers/describe/write_platform.hpp"

#include <catch2/catch.hpp>

#include "readers/samples/read_samples.hpp"
#include "tests/describe/read_back.hpp"
#include "tests/samples/nodes.hpp"
#include "tests/support/config_files.hpp"

using namespace gradway;
using namespace gradway::test;
using Catch::Matchers::Contains;

namespace {

WrittenPlatform written(const std::string& samples, const PlatformTitle& title = {"l40s", ""}) {
  return platform_yaml(read_samples({{"s.json", samples}}), title);
}

std::string message(const std::string& samples) {
  return message_of([&] { return written(samples); });
}

}  // namespace

TEST_CASE("a pair of GPUs with NVLinks", "[fit]") {
  const auto result = written(pair_box());
  CHECK(result.warnings.empty());
  const ReadBack node{result.yaml};
  CHECK(node.cell(0, 1) == "NV4");
  CHECK(node.rate("gpu0 -> gpu1") == Approx(92));
  CHECK(node.rate("gpu1 -> gpu0") == Approx(91));
  CHECK(node.rate("rc1 -> gpu1") == Approx(26.2));
  CHECK(node.rate("gpu1 -> rc1") == Approx(25.1));
  CHECK(node.rate("cpu0 -> rc0") == Approx(26.2));
  CHECK(node.memory("cpu0") == Approx(80));
  CHECK(node.platform().pageable_copy_rate->value() == Approx(12.5e9));
  CHECK_FALSE(node.platform().amd_cpu);
  CHECK(node.links() == 10);
}

TEST_CASE("four GPUs on an NVSwitch: measured on some, applied to all", "[fit]") {
  const auto result = written(switch_box(), {"h200", "h200-4x"});
  CHECK(result.warnings.empty());
  CHECK_THAT(result.yaml, Contains("\ncalibration: h200-4x\n"));
  CHECK_THAT(result.yaml, Contains("# - { from: plx0, to: mlx5_0, kind: pcie, bandwidth: ... }"));
  CHECK_THAT(result.yaml, Contains("measured on 1 of 4 GPUs"));
  const ReadBack node{result.yaml};
  for (std::size_t gpu = 1; gpu < 4; ++gpu) CHECK(node.cell(0, gpu) == "NV18");
  CHECK(node.rate("gpu3 -> nvswitch") == Approx(388));
  CHECK(node.rate("rc3 -> gpu3") == Approx(55.5));
  CHECK(node.rate("plx0 -> gpu0") == Approx(55.5));
  CHECK(node.memory("cpu0") == Approx(8 * 26.25));
  CHECK(node.rate("cpu0 -> loopback") == Approx(4 * 1.5 * 0.064 / 0.024));
}

TEST_CASE("four GPUs behind PCIe switches of two sockets", "[fit]") {
  const auto result = written(socket_box());
  CHECK(result.warnings.empty());
  const ReadBack node{result.yaml};
  CHECK(node.platform().amd_cpu);
  CHECK(node.cell(0, 1) == "PIX");
  CHECK(node.cell(2, 3) == "PIX");
  for (std::size_t far : {2u, 3u}) {
    CHECK(node.cell(0, far) == "SYS");
    CHECK(node.cell(1, far) == "SYS");
  }
  CHECK(node.rate("plx0 -> gpu1") == Approx(12.4));
  CHECK(node.rate("gpu1 -> plx0") == Approx(13.2));
  // Two concurrent copies of 8 GB/s used the path to the first switch, one of 12.4 the path to the second.
  CHECK(node.rate("rc0 -> plx0") == Approx(16));
  CHECK(node.rate("cpu0 -> rc0") == Approx(16));
  CHECK(node.rate("rc1 -> plx1") == Approx(12.4));
  // The rate of the pattern with all GPUs, not of the faster one of a socket alone.
  CHECK(node.memory("cpu0") == Approx(24));
  CHECK(node.memory("cpu1") == Approx(24));
  // NCCL's 16 GB/s for AMD, and a copy that was faster.
  CHECK(node.rate("cpu0 -> cpu1") == Approx(18));
  CHECK(node.rate("cpu1 -> cpu0") == Approx(16));
}

TEST_CASE("one GPU, whose memory bandwidth is inferred", "[fit]") {
  const auto result = written(single_box());
  CHECK(result.warnings ==
        std::vector<std::string>{
            "no pattern copies both ways on all GPUs of cpu0 at once: the rate of its memory is inferred"});
  const ReadBack node{result.yaml};
  CHECK(node.memory("cpu0") == Approx(51));
  CHECK(node.links() == 4);
}

TEST_CASE("without a matrix all inferred links are marked", "[fit]") {
  const auto result =
      written(samples_of({.gpus = 3, .nvlinks = 12, .gpu_keys = R"(, "nvlink_bytes_per_second": 25e9)"},
                         pinned_rows(3, 26, 25)));
  CHECK(result.warnings.size() == 2);
  CHECK_THAT(result.yaml, Contains("Inferred: the samples have no topology_matrix."));
  CHECK_THAT(result.yaml, Contains("Nominal, not measured"));
  const ReadBack node{result.yaml};
  CHECK(node.cell(0, 2) == "NV12");
  CHECK(node.rate("gpu0 -> nvswitch") == Approx(300));
}

TEST_CASE("NVLinks of unknown rate are left out with a warning", "[fit]") {
  const auto result = written(samples_of({.gpus = 2, .nvlinks = 4}, pinned_rows(2, 26, 25)));
  CHECK_THAT(result.warnings.back(), Contains("NVLinks are left out"));
  CHECK(ReadBack{result.yaml}.cell(0, 1) == "NODE");
}

TEST_CASE("GPUs whose slots differ keep their own rates", "[fit]") {
  const auto rows = std::vector{copy_row("h2d_pinned", "0", 26), copy_row("h2d_pinned", "1", 13),
                                copy_row("d2h_pinned", "0", 25), copy_row("d2h_pinned", "1", 25.5)};
  const ReadBack node{written(samples_of({.gpus = 2}, rows)).yaml};
  CHECK(node.rate("rc0 -> gpu0") == Approx(26));
  CHECK(node.rate("rc1 -> gpu1") == Approx(13));
  CHECK(node.rate("gpu0 -> rc0") == node.rate("gpu1 -> rc1"));
}

TEST_CASE("of several nodes one is described, and the file lists what is missing", "[fit]") {
  const auto result = written(samples_of({.nodes = 2}, pinned_rows(1, 26, 25)));
  CHECK(result.warnings.back() ==
        "the samples come from 2 nodes and the file describes one: add 'nodes: 2', 'fabric' and its NICs");
  CHECK_THAT(result.yaml, Contains("\n# nodes: 2\n# fabric: { kind: star, bandwidth: ..., latency: ... }\n"));
  CHECK(ReadBack{result.yaml}.platform().nodes == 1);
}

TEST_CASE("the same samples give the same bytes", "[fit]") {
  for (const auto& samples : {pair_box(), switch_box(), socket_box(), single_box()})
    CHECK(written(samples).yaml == written(samples).yaml);
}

TEST_CASE("samples without a possible platform are refused", "[fit][errors]") {
  const auto copies = pinned_rows(2, 26, 25);
  CHECK(message("[" + copies.front() + "]") ==
        "error: no row describes the measured node\n"
        "  hint: expected a row of kind 'node', as written by gradway-probe, with the GPUs and their "
        "topology\n");
  CHECK_THAT(message("[" + MadeUpNode{}.row() + "]"),
             Catch::Matchers::StartsWith("s.json:1:2: error: the samples contain no copies between pinned "
                                         "memory and a GPU of this node\n") &&
                 Catch::Matchers::EndsWith(
                     "  hint: measure rows h2d_pinned and d2h_pinned, the rates of PCIe, with the probe\n"));
  CHECK_THAT(message(samples_of({.gpus = 2}, copies + std::vector{MadeUpNode{}.row()})),
             Catch::Matchers::StartsWith("s.json:7:1: error: the samples describe two different nodes\n") &&
                 Catch::Matchers::EndsWith("  note: s.json:2:1: the other node is here\n"
                                           "  hint: keep the samples of each node in a separate file\n"));
  CHECK_THAT(message("[{\"kind\": \"node\"}, " + copies.front() + "]"),
             Catch::Matchers::StartsWith("s.json:1:2: error: the row of the node has no 'gpus'\n"));
  CHECK_THAT(message(samples_of({.gpus = 2, .matrix = "GPU0\nGPU0 X\n"}, copies)),
             Contains("the matrix has 1 GPUs, but the node's row has 2"));
  CHECK_THAT(message(samples_of({.gpus = 2, .matrix = "GPU0 GPU1\nGPU0 X QPI\nGPU1 QPI X\n"}, copies)),
             Contains("in the text of 'topology_matrix', line 2, column 8: invalid connection 'QPI' between "
                      "'GPU0' and 'GPU1'"));
  CHECK_THAT(message("[{\"kind\": \"node\", \"gpus\": [{\"name\": \"a\"}, {\"name\": \"b\"}]}, " +
                     copies.front() + "]"),
             Contains("the node has two kinds of GPU, 'a' and 'b'"));
}

TEST_CASE("a GPU without a file gets one from measurements", "[fit]") {
  const MadeUpNode node{.gpu = "NVIDIA B9000 (x)",
                        .gpu_keys =
                            R"(, "memory_bytes": 1048576000, "compute_capability": "12.0",)"
                            R"( "multiprocessors": 150, "memory_clock_hz": 1e9, "memory_bus_bits": 4096)"};
  const auto rows = std::vector<std::string>{
      R"({"kind": "gemm", "dtype": "bf16", "m": 8192, "n": 8192, "k": 8192, "seconds": 0.001})",
      R"({"kind": "memory", "op": "copy_fp32", "bytes": 512000000, "seconds": 0.000625})",
      R"({"kind": "launch", "seconds": 2e-6})"};
  const auto result = gpu_yaml(read_samples({{"s.json", samples_of(node, rows)}}));
  CHECK(result.to_complete == std::vector<std::string>{"peak", "matrix_efficiency", "widen_efficiency",
                                                       "kernel_latency", "launch_cost"});
  CHECK_THAT(result.yaml, Contains("\ncompute_capability: 12.0\nmultiprocessors: 150\nmemory: 1000 MiB\n"));
  CHECK_THAT(result.yaml, Contains("\nmemory_bandwidth: 1024 GB/s\n"));
  CHECK_THAT(result.yaml, Contains("\npeak: { bf16: 1100 TFLOP/s }\nmatrix_efficiency: { bf16: 1 }\n"));
  CHECK_THAT(result.yaml, Contains("\nmemory_efficiency: 0.8\n"));

  CHECK(message_of([&] {
          return gpu_yaml(read_samples({{"s.json", samples_of(node, {rows[1]})}}));
        }) ==
        "s.json:2:1: error: no file of platforms/gpus describes 'NVIDIA B9000 (x)', and there are no rows "
        "'gemm' of 4096 x 4096 x 4096 or larger\n"
        "  hint: measure kernels with the probe too, or write a file of platforms/gpus by hand\n");
}
