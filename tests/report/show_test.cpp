// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include <catch2/catch.hpp>

#include "sim/platform/description.hpp"
#include "sim/report/show/show.hpp"
#include "tests/report/made_up_run.hpp"

using namespace gradway;
using Catch::Matchers::Contains;

namespace {

LinkDescription link(std::string from, std::string to, LinkKind kind, BytesPerSecond rate,
                     BytesPerSecond back, int count = 1) {
  return {{}, {std::move(from), {}}, {std::move(to), {}}, kind, rate, back, 1_us, count};
}

/// Nodes of four GPUs: a bridge between the first two, two sockets, a NIC.
Platform bridged_platform(int nodes) {
  Gpu gpu;
  gpu.name = "tester";
  gpu.memory = 40_GB;
  gpu.memory_bandwidth = 1500_GBps;
  gpu.peak[0] = FlopsPerSecond{19.5e12};
  NodeDescription node;
  node.gpus = 4;
  node.sockets = {{{"cpu[0-1]", {}}, 200_GBps}};
  node.pcie_switches = {{"plx0", {}}};
  node.nics = {{"efa0", {}}};
  node.links = {link("gpu[0-1]", "plx0", LinkKind::pcie, 12_GBps, 13_GBps),
                link("efa0", "plx0", LinkKind::pcie, 12_GBps, 12_GBps),
                link("plx0", "cpu0", LinkKind::pcie, 12_GBps, 13_GBps),
                link("gpu[2-3]", "cpu1", LinkKind::pcie, 12_GBps, 12_GBps),
                link("cpu0", "cpu1", LinkKind::inter_socket, 20_GBps, 20_GBps),
                link("gpu0", "gpu1", LinkKind::nvlink, 100_GBps, 100_GBps, 4)};
  PlatformDescription description;
  description.name = "bridged";
  description.source = "made up for tests";
  BuiltPlatform built{node, nodes, std::nullopt};
  if (nodes > 1) {
    built.fabric.emplace();
    built.fabric->bandwidth = 12_GBps;
    built.fabric->latency = 1_us;
  }
  description.hardware = built;
  description.price = Price{UsdPerHour{2.5}, "us-east-1", "2026-01-01", "a price list"};
  return build_platform(description, gpu, nodes * 4);
}

std::string platform_text(const Platform& platform) {
  std::ostringstream out;
  report::write_platform(out, platform, Calibration{}, report::Style{});
  return out.str();
}

}  // namespace

TEST_CASE("the topology of a platform is shown as by nvidia-smi", "[report][show]") {
  const auto text = platform_text(bridged_platform(1));

  CHECK_THAT(text, Contains("      GPU0  GPU1  GPU2  GPU3  NIC0  CPU/NUMA affinity\n"
                            "GPU0  X     NV4   SYS   SYS   PIX   cpu0\n"
                            "GPU1  NV4   X     SYS   SYS   PIX   cpu0\n"
                            "GPU2  SYS   SYS   X     PHB   SYS   cpu1\n"
                            "GPU3  SYS   SYS   PHB   X     SYS   cpu1\n"
                            "NIC0  PIX   PIX   SYS   SYS   X     cpu0\n"));
  CHECK_THAT(text, Contains("  NIC0  efa0\n"));
  CHECK_THAT(text, !Contains("PXB"));
}

TEST_CASE("a platform is shown with NCCL's transports", "[report][show]") {
  CHECK_THAT(platform_text(bridged_platform(1)), Contains("      GPU0  GPU1  GPU2  GPU3\n"
                                                          "GPU0  X     P2P   SHM   SHM\n"
                                                          "GPU1  P2P   X     SHM   SHM\n"
                                                          "GPU2  SHM   SHM   X     SHM\n"
                                                          "GPU3  SHM   SHM   SHM   X\n"));
}

TEST_CASE("a platform is shown with its links, routes, price and sources", "[report][show]") {
  const auto text = platform_text(bridged_platform(1));

  CHECK_THAT(text, Contains("gpu0 <-> plx0  pcie          12 GB/s / 13 GB/s     1 us\n"));
  CHECK_THAT(text, Contains("gpu0 <-> gpu1  4 x nvlink    100 GB/s each way     1 us\n"));
  CHECK_THAT(text, Contains("gpu0 -> gpu1 (1 us)\n"));
  CHECK_THAT(text, Contains("gpu0 -> plx0 -> cpu0 -> cpu1 -> gpu3 (4 us)\n"));
  CHECK_THAT(text, Contains("2.50 USD per node-hour, us-east-1, 2026-01-01 (a price list)"));
  CHECK_THAT(text, Contains("tester: 40 GB at 1.5 TB/s, fp32 19.5 TFLOP/s"));
  CHECK_THAT(text, Contains("source       made up for tests"));
  CHECK(text.find('\t') == std::string::npos);
}

TEST_CASE("devices of several nodes are shown with their names", "[report][show]") {
  const auto text = platform_text(bridged_platform(2));

  CHECK_THAT(text, Contains("8 x tester on 2 nodes"));
  CHECK_THAT(text, Contains("  GPU4  node1.gpu0\n"));
  CHECK_THAT(text, Contains("  NIC1  node1.efa0\n"));
  CHECK_THAT(text, Contains("node1.efa0 <-> fabric"));
  CHECK_THAT(text, Contains("  NET   through the NICs and the fabric\n"));
}

TEST_CASE("only the first GPUs of large platforms are shown, and the text says so", "[report][show]") {
  const auto whole = platform_text(testing::made_up_platform(16));
  const auto part = platform_text(testing::made_up_platform(1024));

  CHECK_THAT(whole, Contains("GPU15"));
  CHECK_THAT(whole, !Contains("the first"));
  CHECK_THAT(part, Contains("1024 x ideal on 1 node"));
  CHECK_THAT(part, Contains("(the first 8 of 1,024 GPUs)"));
  CHECK_THAT(part, Contains("GPU7"));
  CHECK_THAT(part, !Contains("GPU8"));
  CHECK_THAT(part, Contains("... and 960 more\n"));
}

TEST_CASE("a model is shown with exact totals, layers and anchors", "[report][show]") {
  Model model;
  model.name = "small";
  model.source = "made up for tests";
  Work forward;
  forward.flops_per_sample = Flops{2.5e9};
  model.layers = {Layer{"first", {Parameter{"weight", {1000, 2000}}, Parameter{"bias", {1000}}}, forward, {}},
                  Layer{"relu", {}, {}, {}}};
  model.anchors = {Anchor{"l40s", Precision::fp32, 32, Optimizer::sgd, 112.2_ms, "a stop watch"}};
  std::ostringstream out;
  report::write_model(out, model, {});

  CHECK_THAT(out.str(), Contains("2,001,000 in 2 tensors and 2 layers, 8.004 MB in fp32\n"));
  CHECK_THAT(out.str(), Contains("2.5 GFLOP per sample\n"));
  CHECK_THAT(out.str(), Contains("112.2 ms per step on l40s, fp32, batch 32, sgd (a stop watch)\n"));
  CHECK_THAT(out.str(), Contains("layer  parameters    forward  tensors\n"
                                 "first   2,001,000  2.5 GFLOP  1000x2000, 1000\n"
                                 "relu            0          -  -\n"));
}

TEST_CASE("a plan is shown with its buckets, collectives and phases", "[report][show]") {
  auto run = testing::made_up_run();
  run.workload.programs[0].tasks[1].work = Kernel{.work = 5_ms};
  std::ostringstream out;
  report::write_plan(out, run.scenario, run.workload, {});

  CHECK_THAT(out.str(), Contains("backward       kernel          1  5 ms         -    -\n"));
  CHECK_THAT(out.str(), Contains("collective  per step      size    bytes\n"
                                 "all-reduce         1  4.00 MiB  4194304\n"));
  CHECK_THAT(out.str(), Contains("bucket      size  gradients  first ready  last ready\n"
                                 "     0  4.00 MiB          1  one.weight   one.weight\n"));
}
