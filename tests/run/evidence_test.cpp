// SPDX-License-Identifier: Apache-2.0
// What a collective rests on follows what NCCL chose for it.
#include <catch2/catch.hpp>

#include <algorithm>

#include "sim/config/config.hpp"
#include "sim/cost/chunk_fill.hpp"
#include "sim/run/simulate.hpp"
#include "tests/support/facts.hpp"
#include "tests/support/world_communicator.hpp"

using namespace gradway;

namespace {

Scenario all_reduce(const std::vector<Override>& set) {
  return load_scenario("published/all-reduce", set, DataPath{{GRADWAY_SOURCE_DIR}});
}

double width(const Run& run) {
  return (run.range.high - run.range.low) / run.measured.metrics.step_time;
}

}  // namespace

TEST_CASE("an all-reduce by NVLS rests on what NVIDIA says of it, with P2P or without") {
  const auto nvls = simulate(all_reduce({{"platform", "dgx-h100"}}));
  const auto without_p2p = simulate(all_reduce({{"platform", "dgx-h100"}, {"nccl.NCCL_P2P_DISABLE", "1"}}));
  for (const auto* run : {&nvls, &without_p2p}) {
    const auto is_all_reduce = [](const ProvenanceFact& fact) {
      return fact.subject.ends_with("all-reduce");
    };
    CHECK(std::ranges::count_if(run->basis, is_all_reduce) == 1);
    const auto* collectives = test::find_fact(run->basis, "NVLS all-reduce");
    REQUIRE(collectives);
    CHECK_THAT(collectives->statement, Catch::Contains("which 8 H100 reach"));
    CHECK_FALSE(test::find_warning(run->warnings, "extrapolated-collectives"));
    CHECK(test::find_fact(run->basis, "contention"));
    CHECK(width(*run) < 0.6);
  }
  CHECK(without_p2p.measured.metrics.step_time.value() == Approx(nvls.measured.metrics.step_time.value()));
  CHECK(without_p2p.measured.bottleneck == nvls.measured.bottleneck);
}

TEST_CASE("without P2P and NVLS an all-reduce goes through host memory, and rests on that") {
  const auto run = simulate(
      all_reduce({{"platform", "dgx-h100"}, {"nccl.NCCL_P2P_DISABLE", "1"}, {"nccl.NCCL_NVLS_ENABLE", "0"}}));
  const auto* collectives = test::find_fact(run.basis, "SHM all-reduce");
  REQUIRE(collectives);
  CHECK(collectives->statement == "NCCL's nominal channel rates, nothing measured");
  CHECK(run.measured.metrics.bus_bandwidth->value() < 30e9);
  // Such hosts differ by a factor of 2.3.
  CHECK(width(run) == Approx(2.3 - 1 / 2.3));
}

TEST_CASE("without P2P NCCL prices NVLS without a latency, so it takes it for all sizes") {
  for (const auto* size : {"1 KiB", "64 KiB", "16 MiB"}) {
    const auto scenario =
        all_reduce({{"platform", "dgx-h100"}, {"nccl.NCCL_P2P_DISABLE", "1"}, {"strategy.size", size}});
    const WorldCommunicator lowering{scenario};
    const auto bytes = std::get<OneCollective>(scenario.job.strategy).size;
    const auto plan = lowering->choose(CollectiveKind::all_reduce, bytes);
    CHECK(plan.algorithm == Algorithm::nvls);
    // What it takes does not change by that.
    CHECK(plan.latency.value() == Approx(25e-6 + fill_of(plan, bytes, lowering->facts(), {}).value()));
  }
  const auto scenario = all_reduce({{"platform", "dgx-h100"}, {"strategy.size", "1 KiB"}});
  CHECK((*WorldCommunicator{scenario}).choose(CollectiveKind::all_reduce, 1_KiB).algorithm !=
        Algorithm::nvls);
}

TEST_CASE("NCCL told to do what it would do by itself does the same") {
  struct Job {
    const char* platform;
    const char* gpus;
  };
  const auto job = GENERATE(values<Job>({{"aws-g6.48xlarge", "64"},
                                         {"aws-g6e.48xlarge", "16"},
                                         {"aws-g6e.48xlarge", "8"},
                                         {"dgx-a100", "16"},
                                         {"azure-nd96asr-v4", "32"},
                                         {"aws-p5.48xlarge", "24"},
                                         {"h200-2x", "2"},
                                         {"h200-4x", "3"}}));
  for (const auto* size : {"1000 B", "100 kB", "1000 kB", "20 MB", "1 GB"}) {
    std::vector<Override> set{{"platform", job.platform}, {"job.gpus", job.gpus}, {"strategy.size", size}};
    const auto free = all_reduce(set);
    const WorldCommunicator lowering{free};
    const auto plan =
        lowering->choose(CollectiveKind::all_reduce, std::get<OneCollective>(free.job.strategy).size);
    set.push_back({"nccl.NCCL_ALGO", std::string{name_of(plan.algorithm)}});
    set.push_back({"nccl.NCCL_PROTO", std::string{name_of(plan.protocol)}});
    CAPTURE(job.platform, job.gpus, size, name_of(plan.algorithm), name_of(plan.protocol));
    CHECK(simulate(all_reduce(set)).measured.metrics.step_time.value() ==
          Approx(simulate(free).measured.metrics.step_time.value()).epsilon(1e-9));
  }
}

TEST_CASE("fewer channels on links that are twice as fast take no longer") {
  // A measured rate holds for the node as it is; that NCCL would take more channels on faster links does not
  // make two of them slower.
  auto scenario = all_reduce({{"platform", "aws-g6e.48xlarge"}, {"nccl.NCCL_MAX_NCHANNELS", "2"}});
  const auto before = simulate(scenario).measured.metrics.step_time;
  for (auto& resource : scenario.platform.resources)
    if (resource.kind != ResourceKind::gpu) resource.capacity *= 2;
  const auto after = simulate(scenario).measured.metrics.step_time;
  CHECK(after.value() <= before.value() * 1.01);
}
