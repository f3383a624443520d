// SPDX-License-Identifier: Apache-2.0
// What is found once for groups that differ only in their nodes, and once for both runs at the power limit.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/lower/lower.hpp"
#include "sim/nccl/collective_ways.hpp"
#include "sim/plan/plan.hpp"
#include "sim/platform/identical_domains.hpp"

using namespace gradway;

namespace {

using Variables = std::map<std::string, std::string>;

Scenario scenario_of(const std::string& name, const std::vector<Override>& set) {
  return load_scenario(name, set, DataPath{{GRADWAY_SOURCE_DIR}});
}

/// On nodes that NVSwitches join, 18 to a rack.
Scenario on_racks(const std::string& gpus) {
  return scenario_of("layouts/llama3_70b", {{"job.gpus", gpus},
                                            {"parallel.pipeline", "1"},
                                            {"parallel.virtual", "1"},
                                            {"parallel.schedule", "1f1b"},
                                            {"platform", "nvidia-gb200-nvl72"}});
}

/// The same platform without the note that its nodes are copies of the first.
Platform one_by_one(Platform platform) {
  platform.node_size = {};
  return platform;
}

/// Paths whose resources are sorted.
template <class Paths>
std::vector<std::vector<ResourceId>> sorted(const Paths& paths) {
  std::vector<std::vector<ResourceId>> result;
  for (const std::vector<ResourceId>& path : paths) std::ranges::sort(result.emplace_back(path));
  return result;
}

std::vector<Override> joined(std::vector<Override> changes, const std::vector<Override>& more) {
  changes.insert(changes.end(), more.begin(), more.end());
  return changes;
}

bool are_equal(const Op& a, const Op& b) {
  return a.kind == b.kind && a.latency == b.latency && a.amount == b.amount && a.cap == b.cap &&
         a.weight == b.weight && a.path == b.path && a.queue == b.queue && a.contender == b.contender &&
         a.origin.actor == b.origin.actor && a.origin.task == b.origin.task && a.origin.step == b.origin.step;
}

std::vector<std::pair<OpId, OpId>> edges_of(const OpGraph& graph) {
  std::vector<std::pair<OpId, OpId>> edges;
  for (const auto& [before, after] : graph.edges()) edges.emplace_back(before, after);
  return edges;
}

}  // namespace

TEST_CASE("a group on other nodes has the flows that a communicator of its own would have", "[nccl]") {
  const auto scenario =
      GENERATE(scenario_of("layouts/llama3_70b", {{"job.gpus", "256"}}),
               scenario_of("layouts/llama3_70b", {{"job.gpus", "128"}, {"platform", "aws-p5.48xlarge"}}),
               scenario_of("layouts/mixtral_8x7b", {{"job.gpus", "64"}, {"platform", "gcp-a3-highgpu-8g"}}),
               on_racks("288"));
  const auto workload = plan(scenario, compute_costs(scenario));
  const Communicators communicators{workload, scenario};
  const Routes routes{scenario.platform};
  const auto numbers = gpu_numbers(scenario.platform);
  REQUIRE(IdenticalDomains{scenario.platform}.hold());
  std::size_t shared = 0;
  std::set<std::size_t> known;

  for (std::size_t g = 0; g < workload.groups.size(); ++g) {
    const GroupId group{g};
    if (known.insert(communicators.kind(group)).second) continue;
    ++shared;
    GpuNumbers gpus;
    for (const auto member : workload.groups[g].members)
      gpus.push_back(numbers[workload.actors[member.index()].at.index()]);
    const Communicator own{routes, nccl_settings(scenario.job.nccl), scenario.calibration, gpus};
    for (const auto kind : {CollectiveKind::all_reduce, CollectiveKind::all_to_all, CollectiveKind::send}) {
      const auto size = Bytes{1e8};
      if (kind == CollectiveKind::send && gpus.size() != 2) continue;
      const auto expected = own.lower(kind, size);
      const auto found = communicators.of(group).lower(kind, size);
      CHECK(found.latency == expected.latency);
      REQUIRE(found.flows.size() == expected.flows.size());
      for (std::size_t i = 0; i < found.flows.size(); ++i) {
        CHECK(found.flows[i].amount == expected.flows[i].amount);
        CHECK(found.flows[i].cap == expected.flows[i].cap);
        CHECK(communicators.moved(found.flows[i].path, group).resources() ==
              expected.flows[i].path.resources());
      }
    }
  }

  CHECK(shared > workload.groups.size() / 2);
}

TEST_CASE("a hop of a ring between nodes that are alike is the one that is sought for its two GPUs",
          "[nccl]") {
  const auto [platform, ranks] = GENERATE(table<std::string, std::string>({{"dgx-h100", "40"},
                                                                           {"aws-p5.48xlarge", "40"},
                                                                           {"gcp-a3-highgpu-8g", "40"},
                                                                           {"aws-p4d.24xlarge", "40"},
                                                                           {"a100-4x-hdr", "40"},
                                                                           {"nvidia-gb200-nvl72", "216"}}));
  const auto scenario = scenario_of("scale/pod-1024", {{"platform", platform}, {"job.gpus", ranks}});
  const Routes routes{scenario.platform};
  REQUIRE(routes.identical_domains().hold());
  const auto settings = nccl_settings(scenario.job.nccl);

  const CollectiveWays ways{routes, settings, first_gpus(scenario.job.gpus)};

  REQUIRE(ways.orders().size() == ways.rings().size());
  for (std::size_t rail = 0; rail < ways.orders().size(); ++rail) {
    const auto& order = ways.orders()[rail];
    std::vector<ResourceId> expected;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto& gpus = scenario.platform.gpus;
      const auto hop = make_hop(routes, scenario.platform, {settings}, gpus[order[i]],
                                gpus[order[(i + 1) % order.size()]], rail);
      REQUIRE(hop);
      expected.insert(expected.end(), hop->path.begin(), hop->path.end());
    }
    CHECK(ways.rings()[rail].path() == expected);
  }
}

TEST_CASE("many alike nodes use each link as often as if their hops were sought one by one", "[nccl]") {
  const auto [platform, ranks] = GENERATE(table<std::string, std::string>({{"dgx-h100", "64"},
                                                                           {"aws-p5.48xlarge", "72"},
                                                                           {"gcp-a3-highgpu-8g", "56"},
                                                                           {"aws-p4d.24xlarge", "96"},
                                                                           {"a100-4x-hdr", "88"},
                                                                           {"nvidia-gb200-nvl72", "432"}}));
  const auto variables =
      GENERATE(Variables{}, Variables{{"NCCL_PXN_DISABLE", "1"}}, Variables{{"NCCL_CROSS_NIC", "1"}});
  const auto scenario = scenario_of("scale/pod-1024", {{"platform", platform}, {"job.gpus", ranks}});
  const auto described_one_by_one = one_by_one(scenario.platform);
  const auto settings = nccl_settings(variables);
  const Routes routes{scenario.platform};
  const Routes other_routes{described_one_by_one};
  REQUIRE(routes.identical_domains().hold());
  REQUIRE_FALSE(other_routes.identical_domains().hold());
  // Of the first half of each node, so that GPUs forward data in some communicators and not in others.
  auto gpus = first_gpus(scenario.job.gpus);
  if (GENERATE(false, true)) std::erase_if(gpus, [](std::size_t gpu) { return gpu % 4 >= 2; });
  if (gpus.size() > 100 && (gpus.size() > 300 || !variables.empty())) return;  // they would take long

  const CollectiveWays ways{routes, settings, gpus};
  const CollectiveWays expected{other_routes, settings, gpus};

  CHECK(ways.domain_count() > 5);
  CHECK(ways.gpus().size() < expected.gpus().size());
  for (const auto algorithm :
       {Algorithm::ring, Algorithm::tree, Algorithm::nvls, Algorithm::nvls_tree, Algorithm::collnet_chain}) {
    const bool needs_switch = algorithm == Algorithm::nvls || algorithm == Algorithm::nvls_tree;
    if (needs_switch && !routes.links_to_nvswitch(scenario.platform.gpus.front())) continue;
    for (const auto kind : {CollectiveKind::all_reduce, CollectiveKind::broadcast})
      CHECK(sorted(ways.paths(kind, algorithm)) == sorted(expected.paths(kind, algorithm)));
  }
  if (gpus.size() > 100) return;
  REQUIRE(ways.pairs().size() == expected.pairs().size());
  for (std::size_t i = 0; i < ways.pairs().size(); ++i) {
    CHECK(ways.pairs()[i].share == expected.pairs()[i].share);
    CHECK(ways.pairs()[i].peers == expected.pairs()[i].peers);
    CHECK(ways.pairs()[i].latency == expected.pairs()[i].latency);
    CHECK(sorted(std::vector{ways.pairs()[i].path}) == sorted(std::vector{expected.pairs()[i].path}));
  }
}

TEST_CASE("routes on interchangeable domains are those of the platform described node by node",
          "[platform]") {
  const auto [name, ranks] = GENERATE(table<std::string, std::string>(
      {{"aws-p5.48xlarge", "24"}, {"a100-4x-hdr", "32"}, {"nvidia-gb200-nvl72", "216"}}));
  const auto platform = scenario_of("scale/pod-1024", {{"platform", name}, {"job.gpus", ranks}}).platform;
  const auto other = one_by_one(platform);
  const Routes routes{platform};
  const Routes expected{other};
  REQUIRE(routes.identical_domains().hold());
  const auto indices = [](const Platform& of, const std::optional<Route>& route) {
    std::vector<std::ptrdiff_t> links;
    for (const auto* link : route ? route->links : std::vector<const Link*>{})
      links.push_back(link - of.links.data());
    return links;
  };
  std::size_t found = 0;

  for (std::size_t a = 0; a < platform.devices.size(); a += 7) {
    for (std::size_t b = 0; b < platform.devices.size(); b += 5) {
      const auto over = static_cast<Routes::Over>((a + b) % 4);
      const auto route = routes.find(DeviceId{a}, DeviceId{b}, over, b);
      CHECK(indices(platform, route) == indices(other, expected.find(DeviceId{a}, DeviceId{b}, over, b)));
      found += route ? 1 : 0;
    }
    CHECK(routes.home_socket(DeviceId{a}) == expected.home_socket(DeviceId{a}));
    CHECK(routes.links_from(DeviceId{a}).size() == expected.links_from(DeviceId{a}).size());
  }
  const DeviceId last{platform.devices.size() - 1};
  CHECK(routes.links_from(last).size() == expected.links_from(last).size());

  CHECK(found > 50);
}

TEST_CASE("ranks are proved alike on few domains as on all", "[fold]") {
  const auto changes = GENERATE(std::vector<Override>{}, std::vector<Override>{{"job.slow_gpu", "1.2"}},
                                std::vector<Override>{{"nccl.NCCL_ALGO", "Tree"}});
  auto scenario = GENERATE_COPY(
      scenario_of("layouts/llama3_70b", joined({{"job.gpus", "256"}}, changes)),
      scenario_of("layouts/mixtral_8x7b",
                  joined({{"job.gpus", "64"}, {"platform", "gcp-a3-highgpu-8g"}}, changes)),
      scenario_of("scale/pod-1024", joined({{"job.gpus", "72"}, {"platform", "aws-p5.48xlarge"}}, changes)),
      scenario_of("scale/pod-1024",
                  joined({{"job.gpus", "432"}, {"platform", "nvidia-gb200-nvl72"}}, changes)));
  const auto workload = plan(scenario, compute_costs(scenario));
  REQUIRE(IdenticalDomains{scenario.platform}.hold());
  const auto found = lower(workload, scenario, Communicators{workload, scenario});
  const auto count = scenario.platform.resources.size();

  scenario.platform = one_by_one(std::move(scenario.platform));
  const auto expected = lower(workload, scenario, Communicators{workload, scenario});

  CHECK(found.folding.simulated_ranks() < static_cast<std::size_t>(scenario.job.gpus));
  CHECK(found.folding.actor_representative == expected.folding.actor_representative);
  CHECK(found.folding.group_representative == expected.folding.group_representative);
  bool are_resources_equal = true;
  for (std::size_t i = 0; i < count; ++i)
    are_resources_equal = are_resources_equal && found.folding.resources.of(ResourceId{i}) ==
                                                     expected.folding.resources.of(ResourceId{i});
  CHECK(are_resources_equal);
  CHECK(std::ranges::equal(found.ops.ops(), expected.ops.ops(), are_equal));
  CHECK(edges_of(found.ops) == edges_of(expected.ops));
  CHECK(sorted(found.ops.paths()) == sorted(expected.ops.paths()));
}

TEST_CASE("a slow link between a node and the switch makes nodes differ") {
  auto scenario = scenario_of("scale/pod-1024", {{"job.gpus", "72"}, {"platform", "aws-p5.48xlarge"}});
  REQUIRE(IdenticalDomains{scenario.platform}.hold());

  scenario.platform.resources[scenario.platform.links.back().resource.index()].capacity /= 2;

  CHECK_FALSE(IdenticalDomains{scenario.platform}.hold());
}

TEST_CASE(
    "nodes that do not all hang on one switch, or racks that are not all full, do not stand for each other") {
  const auto scenario = GENERATE(scenario_of("scale/pod-1024", {{"job.gpus", "64"}}), on_racks("80"));

  CHECK_FALSE(IdenticalDomains{scenario.platform}.hold());
}

TEST_CASE(
    "a workload with other costs and the lowering plan of the first equals one planned with these costs",
    "[clocks]") {
  const auto scenario =
      GENERATE(scenario_of("layouts/llama3_70b", {{"job.gpus", "128"}}),
               scenario_of("sharded/llama2_7b", {{"platform", "dgx-h100"}, {"job.gpus", "16"}}),
               scenario_of("layouts/mixtral_8x7b", {{"job.gpus", "32"}}));
  const auto first_costs = compute_costs(scenario);
  const auto costs = compute_costs(scenario, {.idle = 0.1, .communication = 0.2});
  REQUIRE(costs.slowdown < first_costs.slowdown);
  const auto first = plan(scenario, first_costs);
  const Communicators communicators{first, scenario};
  const auto lowering_plan = make_lowering_plan(first, scenario, communicators);
  const auto planned = plan(scenario, costs);

  const auto found =
      lower(with_costs(first, scenario, costs), scenario.platform, communicators, lowering_plan);

  const auto expected = lower(planned, scenario, Communicators{planned, scenario});
  CHECK(std::ranges::equal(found.ops.ops(), expected.ops.ops(), are_equal));
  CHECK(edges_of(found.ops) == edges_of(expected.ops));
  CHECK(found.ops.paths() == expected.ops.paths());
  CHECK(found.folding.actor_representative == expected.folding.actor_representative);
  CHECK(found.nccl == expected.nccl);
}
