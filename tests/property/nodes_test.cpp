// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <numeric>

#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/report/format/words.hpp"
#include "sim/run/simulate.hpp"
#include "tests/support/random_graph.hpp"

using namespace gradway;
using gradway::testing::Dice;

namespace {

struct Machine {
  const char* platform;
  int gpus_a_node;
};

// Every kind of fabric, transport and node that is shipped with several nodes: NVSwitches, NVLink domains, a
// mesh of NVLinks, PCIe trees; EFA, InfiniBand and TCP; with and without measured collectives.
constexpr std::array machines{Machine{"aws-p5.48xlarge", 8},      Machine{"azure-nd-gb200-v6", 4},
                              Machine{"gcp-a3-highgpu-8g", 8},    Machine{"aws-g6e.48xlarge", 8},
                              Machine{"aws-p4d.24xlarge", 8},     Machine{"azure-nd40rs-v2", 8},
                              Machine{"azure-nd96isr-h100-v5", 8}};

/// Two or three nodes, the last one not always full.
Scenario random_job(Dice& dice, const Machine& machine) {
  const auto within = [&](int least, int end) {
    return least + static_cast<int>(dice.roll(static_cast<std::size_t>(end - least)));
  };
  constexpr std::array algorithms{"Ring", "Tree", "Ring,Tree,NVLS,NVLSTree"};
  const auto gpus = within(machine.gpus_a_node + 1, 3 * machine.gpus_a_node + 1);
  std::vector<Override> set{{"platform", machine.platform},
                            {"job.gpus", std::to_string(gpus)},
                            {"job.batch_per_gpu", std::to_string(within(1, 33))},
                            {"strategy.bucket_cap", std::to_string(within(5, 400)) + " MB"},
                            {"input.background_copy", std::to_string(within(0, 300)) + " MB"},
                            {"nccl.NCCL_ALGO", algorithms[dice.roll(algorithms.size())]},
                            {"nccl.NCCL_P2P_DISABLE", dice.chance(0.3) ? "1" : "0"}};
  if (dice.chance(0.5)) set.push_back({"strategy.comm_hook", "fp16"});
  return load_scenario("article/p4d", set, DataPath{{GRADWAY_SOURCE_DIR}});
}

bool same(double a, double b, double scale) {
  return std::abs(a - b) <= 1e-9 * scale;
}

/// Links and memories that carried anything, listed or not.
std::size_t links_used(const Measured& measured) {
  return std::accumulate(measured.links.begin(), measured.links.end(), measured.links_left_out,
                         [](std::size_t sum, const ResourceUse& use) { return sum + 1 + use.alike; });
}

void same_numbers(const Run& one, const Run& other) {
  const auto& a = one.measured.metrics;
  const auto& b = other.measured.metrics;
  const auto scale = b.step_time.value();
  CHECK(same(a.step_time.value(), b.step_time.value(), scale));
  CHECK(same(a.communication.value(), b.communication.value(), scale));
  CHECK(same(a.exposed_communication.value(), b.exposed_communication.value(), scale));
  CHECK(same(a.input_wait.value(), b.input_wait.value(), scale));
  CHECK(links_used(one.measured) == links_used(other.measured));
  CHECK(same(one.measured.links.front().busy_fraction, other.measured.links.front().busy_fraction, 1));
}

}  // namespace

TEST_CASE("on several nodes of shipped platforms folded and unfolded runs and SimGrid agree to 1e-9") {
  Dice dice{GENERATE(1u, 2u)};
  for (const auto& machine : machines) {
    const auto scenario = random_job(dice, machine);
    CAPTURE(machine.platform, scenario.job.gpus, std::get<Ddp>(scenario.job.strategy).bucket_cap.value());
    const auto whole = simulate(scenario, "fluid", FoldRanks::no);
    const auto folded = simulate(scenario, "fluid", FoldRanks::yes);
    same_numbers(folded, whole);
    same_numbers(simulate(scenario, "simgrid", FoldRanks::yes), whole);
  }
}

TEST_CASE("a report lists as many links as fit, groups equal ones, and counts the others") {
  const auto scenario = load_scenario("article/p4d", {{"platform", "aws-p5.48xlarge"}, {"job.gpus", "160"}},
                                      DataPath{{GRADWAY_SOURCE_DIR}});
  const auto folded = simulate(scenario, "fluid", FoldRanks::yes).measured;
  const auto whole = simulate(scenario, "fluid", FoldRanks::no).measured;
  CHECK(links_used(folded) > most_links_listed);
  CHECK(links_used(folded) == links_used(whole));
  CHECK(folded.links.size() < 200);
  CHECK(folded.links_left_out == 0);
  CHECK(whole.links.size() == most_links_listed);
  CHECK(whole.links_left_out == links_used(whole) - most_links_listed);
  CHECK(folded.links.front().name == whole.links.front().name);
  CHECK(report::describe(folded.bottleneck).resource == report::describe(whole.bottleneck).resource);
}
