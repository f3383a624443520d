// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/lower/folding.hpp"
#include "sim/platform/data_paths.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/workloads.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

using Paths = std::vector<std::vector<ResourceId>>;

/// Resources of the given capacities; nothing else matters for folding.
Platform resources(const std::vector<double>& capacities) {
  Platform platform;
  for (const auto capacity : capacities) platform.resources.push_back({ResourceKind::link, 0, capacity});
  return platform;
}

std::vector<ResourceId> ids(std::initializer_list<std::size_t> numbers) {
  std::vector<ResourceId> path;
  for (const auto number : numbers) path.emplace_back(number);
  return path;
}

/// Classes of ranks that run one program, each with its own path, and flows of a group of all ranks.
Folding folding_of(const Paths& ranks, const std::vector<std::vector<ResourceId>>& flows,
                   const Platform& platform) {
  Workload workload;
  workload.programs.push_back(program("rank", {}));
  std::vector<ActorUse> uses;
  for (const auto& path : ranks) {
    workload.actors.push_back({.program = ProgramId{0}, .at = DeviceId{0}});
    uses.push_back({path});
  }
  workload.ranks = static_cast<int>(ranks.size());
  std::vector<const std::vector<ResourceId>*> pointers;
  for (const auto& flow : flows) pointers.push_back(&flow);
  return find_folding(
      workload, [&](std::size_t actor) { return uses[actor]; }, {}, pointers, platform);
}

std::vector<std::size_t> classes(const Paths& ranks, const std::vector<std::vector<ResourceId>>& flows,
                                 const Platform& platform) {
  std::vector<std::size_t> representatives;
  for (const auto id : folding_of(ranks, flows, platform).actor_representative)
    representatives.push_back(id.index());
  return representatives;
}

}  // namespace

TEST_CASE("ranks with links of equal capacity are one class") {
  const auto platform = resources({10, 10, 10});
  CHECK(classes({ids({0}), ids({1}), ids({2})}, {}, platform) == std::vector<std::size_t>{0, 0, 0});
}

TEST_CASE("a link of another capacity is another class") {
  const auto platform = resources({10, 20, 10});
  CHECK(classes({ids({0}), ids({1}), ids({2})}, {}, platform) == std::vector<std::size_t>{0, 1, 0});
}

TEST_CASE("sharing a link with more ranks is another class") {
  // ranks 0 and 1 share link 0; ranks 2 and 3 share link 1; rank 4 has link 2 alone
  const auto platform = resources({10, 10, 10});
  CHECK(classes({ids({0}), ids({0}), ids({1}), ids({1}), ids({2})}, {}, platform) ==
        std::vector<std::size_t>{0, 0, 0, 0, 4});
}

TEST_CASE("a collective over one rank's link puts that rank into a class of its own") {
  const auto platform = resources({10, 10});
  CHECK(classes({ids({0}), ids({1})}, {ids({1})}, platform) == std::vector<std::size_t>{0, 1});
  CHECK(classes({ids({0}), ids({1})}, {ids({0, 1})}, platform) == std::vector<std::size_t>{0, 0});
  CHECK(classes({ids({0}), ids({1})}, {ids({0, 1, 1})}, platform) == std::vector<std::size_t>{0, 1});
}

TEST_CASE("a difference propagates to ranks that share links") {
  // links 0-1-2 form a chain of shared use: rank 0 uses 0 and 1, rank 1 uses 1 and 2, rank 2 uses 3 and 4,
  // rank 3 uses 4 and 5; only link 5 is faster
  const auto platform = resources({10, 10, 10, 10, 10, 20});
  CHECK(classes({ids({0, 1}), ids({1, 2}), ids({3, 4}), ids({4, 5})}, {}, platform) ==
        std::vector<std::size_t>{0, 0, 2, 3});
}

TEST_CASE("a folded path names a resource as often as the whole class uses it") {
  const auto platform = resources({10, 10});
  const Paths ranks{ids({0}), ids({0}), ids({1}), ids({1})};
  const auto folding = folding_of(ranks, {}, platform);
  REQUIRE(folding.simulated_ranks() == 1);
  std::vector<ResourceId> all;
  for (const auto& path : ranks) {
    const auto folded = folding.fold(path);
    all.insert(all.end(), folded.begin(), folded.end());
  }
  CHECK(all == ids({0, 0}));
}

TEST_CASE("without folding each rank represents itself") {
  const auto platform = resources({10, 10});
  Workload workload;
  workload.programs.push_back(program("rank", {}));
  workload.ranks = 3;
  workload.actors.assign(3, {.program = ProgramId{0}, .at = DeviceId{0}});
  const auto folding = no_folding(workload, platform);
  CHECK(folding.simulated_ranks() == 3);
  CHECK(folding.fold(ids({0, 1, 1})) == ids({0, 1, 1}));
}

TEST_CASE("channels that leave through another rank each are one flow, and their ranks one class") {
  // Links 0 to 3 and NICs 4 to 7 of four ranks: the ring of channel i leaves through the NIC of rank i and
  // takes the links of all others.
  const auto platform = resources({10, 10, 10, 10, 5, 5, 5, 5});
  const Paths rings{ids({1, 2, 3, 4}), ids({0, 2, 3, 5}), ids({0, 1, 3, 6}), ids({0, 1, 2, 7})};
  Workload workload;
  workload.programs.push_back(program("rank", {}));
  workload.ranks = 4;
  workload.actors.assign(4, {.program = ProgramId{0}, .at = DeviceId{0}});
  add_group(workload, "all", {0, 1, 2, 3});
  const std::vector<ActorUse> of_actors{{ids({0, 4})}, {ids({1, 5})}, {ids({2, 6})}, {ids({3, 7})}};
  const auto uses = [&](std::size_t actor) { return of_actors[actor]; };
  GroupUse group;
  for (const auto& ring : rings) group.paths.emplace_back(ring);

  group.figures = {0, 0, 0, 0};
  const auto folding = find_folding(workload, uses, {group}, {}, platform);
  CHECK(folding.simulated_ranks() == 1);
  std::vector<ResourceId> all;
  for (std::size_t path = 0; path < rings.size(); ++path) {
    CHECK(folding.class_of_flow(0, path) == folding.class_of_flow(0, 0));
    const auto folded = folding.fold(rings[path]);
    all.insert(all.end(), folded.begin(), folded.end());
  }
  CHECK(all == ids({4, 0, 0, 0}));

  group.figures = {0, 0, 0, 1};  // one channel carries more
  const auto other = find_folding(workload, uses, {group}, {}, platform);
  CHECK(other.simulated_ranks() == 2);
  CHECK(other.class_of_flow(0, 2) == other.class_of_flow(0, 0));
  CHECK(other.class_of_flow(0, 3) != other.class_of_flow(0, 0));
}
