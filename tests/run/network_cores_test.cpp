// SPDX-License-Identifier: Apache-2.0
// Cores that copies of TCP take from loaders.
#include "sim/run/network_cores.hpp"

#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/run/simulate.hpp"

using namespace gradway;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};

/// A platform whose loaders have ten cores.
Platform ten_cores() {
  Platform platform;
  platform.resources = {{ResourceKind::cores, 0, 10}};
  platform.loading = {{.storage = {}, .cache = {}, .cold = {}, .cores = ResourceId{0}}};
  return platform;
}

/// A step that waits for loaders, which need all cores.
Run resnet50(const char* platform) {
  return simulate(load_scenario("loading/resnet50",
                                {{"platform", platform},
                                 {"job.gpus", "16"},
                                 {"input", "{ dataset: imagenet-1k, loader_workers: 16 }"},
                                 {"faster.gpu", "20"},
                                 {"faster.cpu", "20"},
                                 {"nccl.NCCL_ALGO", "Ring"}},
                                data),
                  "fluid");
}

}  // namespace

TEST_CASE("a step takes the core time of loaders and network if all cores are busy", "[run][network]") {
  auto platform = ten_cores();
  const auto taken = share_cores_with_network(platform, {.cores_busy = 1}, Seconds{1}, Seconds{2});
  // Ten seconds of loaders and two of the network on ten cores take 1.2 s.
  CHECK(10 / platform.resources[0].capacity == Approx(1.2));
  CHECK(taken == Approx(2 / 1.2));
}

TEST_CASE("the network takes its core time of a step that waits for something else", "[run][network]") {
  auto platform = ten_cores();
  CHECK(share_cores_with_network(platform, {.cores_busy = 0.3}, Seconds{1}, Seconds{2}) == Approx(2));
  CHECK(platform.resources[0].capacity == Approx(8));
}

TEST_CASE("loaders that need all cores of a node share them with copies of TCP, and not with RDMA",
          "[run][network]") {
  const auto tcp = resnet50("two-sites-8x-h100");
  const auto rdma = resnet50("dgx-h100");
  const auto cores = [](const Run& run) { return run.measured.metrics.loading->network_cores; };
  const auto step = [](const Run& run) { return run.measured.metrics.step_time.value(); };
  const auto limit = std::get<bottleneck::Loader>(tcp.measured.bottleneck);
  CHECK(limit.limit == bottleneck::LoaderLimit::cores);
  CHECK(limit.network_cores == cores(tcp));
  CHECK(cores(rdma) == 0);
  // A ring over both nodes carries 30/16 of the gradients out of each, and as much into it.
  const auto copied = 25.557e6 * 4 * 30 / 16;
  const auto network = copied * (1 / 5.25e9 + 1 / 11.125e9);
  CHECK(cores(tcp) * step(tcp) == Approx(network).epsilon(0.05));
  // 112 cores, half a core for each of the 24 processes beyond them, less the 8 that train
  CHECK(step(tcp) - step(rdma) == Approx(network / 116).epsilon(0.1));
}
