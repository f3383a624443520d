// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics/link_use.hpp"

#include <catch2/catch.hpp>

#include "sim/engine/engine.hpp"
#include "tests/support/random_graph.hpp"
#include "tests/support/small_graphs.hpp"

using namespace gradway;
using namespace gradway::testing;

namespace {

std::vector<ResourceId> all_of(const Platform& platform) {
  std::vector<ResourceId> ids;
  for (std::size_t i = 0; i < platform.resources.size(); ++i) {
    if (std::isfinite(platform.resources[i].capacity)) ids.emplace_back(i);
  }
  return ids;
}

/// What a resource carried, by its curve.
double carried(const std::vector<UseChange>& changes, double capacity) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < changes.size(); ++i)
    sum += changes[i].own * capacity * (changes[i + 1].at - changes[i].at).value();
  return sum;
}

Op flow(double amount, std::uint32_t path, Seconds latency = Seconds{}) {
  Op op;
  op.kind = OpKind::flow;
  op.amount = amount;
  op.path = path;
  op.latency = latency;
  return op;
}

std::vector<UseChange> use_of_first(const Platform& platform, const OpGraph& graph, const char* engine) {
  const auto timeline = choose_engine(engine).engine->run(platform, graph);
  return link_use(platform, graph, timeline, {ResourceId{0}}).front();
}

void check(const std::vector<UseChange>& changes, const std::vector<UseChange>& expected) {
  REQUIRE(changes.size() == expected.size());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    CHECK(changes[i].at.value() == Approx(expected[i].at.value()));
    CHECK(changes[i].own == Approx(expected[i].own));
    CHECK(changes[i].others == Approx(expected[i].others));
  }
}

}  // namespace

TEST_CASE("a link is used as its flows share it, from the end of their latency on") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const auto platform = resources_of({100, 40});
  OpGraph graph;
  const auto first = graph.add_path({ResourceId{0}});
  const auto both = graph.add_path({ResourceId{0}, ResourceId{1}});
  // NoExchange at 100 from 1 s to 2 s; then the second takes the 40 of its narrower link, from 2 s to 4 s;
  // the first has 60 beside it, and 100 again for the last 80.
  graph.add(flow(300, first, Seconds{1}));
  graph.add(flow(80, both, Seconds{2}));

  check(use_of_first(platform, graph, engine), {{Seconds{1}, 1, 0}, {Seconds{4.8}, 0, 0}});
}

TEST_CASE("a path that names a link twice uses it twice, and a cap leaves the rest idle") {
  const auto platform = resources_of({100});
  OpGraph graph;
  const auto twice = graph.add_path({ResourceId{0}, ResourceId{0}});
  auto op = flow(90, twice);
  op.cap = 30;
  graph.add(op);

  check(use_of_first(platform, graph, "fluid"), {{Seconds{0}, 0.6, 0}, {Seconds{3}, 0, 0}});
}

TEST_CASE("a neighbour's traffic stands apart from the job's, and goes on to the end of the run") {
  const auto platform = resources_of({100});
  OpGraph graph;
  const auto path = graph.add_path({ResourceId{0}});
  auto neighbour = flow(std::numeric_limits<double>::infinity(), path);
  neighbour.cap = 25;
  neighbour.origin.step = Origin::no_step;
  graph.add(neighbour);
  graph.add(flow(150, path, Seconds{2}));

  check(use_of_first(platform, graph, "fluid"),
        {{Seconds{0}, 0, 0.25}, {Seconds{2}, 0.75, 0.25}, {Seconds{4}, 0, 0}});
}

TEST_CASE("what a kernel beside it costs a collective shows in the use of its links") {
  const auto platform = resources_of({100, 1});
  OpGraph graph;
  const auto link = graph.add_path({ResourceId{0}});
  const auto gpu = graph.add_path({ResourceId{1}});
  auto collective = flow(100, link);
  collective.cap = 50;
  collective.contender = graph.add_contender({Contender::Kind::collective, 2, {0}});
  auto kernel = flow(1, gpu);
  kernel.cap = 1;
  kernel.contender = graph.add_contender({Contender::Kind::kernel, 1, {0}});
  graph.add(collective);
  graph.add(kernel);

  // 25 a second for a second, then 50.
  check(use_of_first(platform, graph, "fluid"),
        {{Seconds{0}, 0.25, 0}, {Seconds{1}, 0.5, 0}, {Seconds{2.5}, 0, 0}});
}

TEST_CASE("whatever the flows, links carry their amounts and no more than their capacity") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const bool round = GENERATE(true, false);
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(engine, round, seed);
    RandomShape shape;
    shape.round = round;
    const auto [platform, graph] = random_case(seed, shape);
    const auto timeline = choose_engine(engine).engine->run(platform, graph);
    const auto ids = all_of(platform);
    const auto use = link_use(platform, graph, timeline, ids);
    std::vector<double> amounts(platform.resources.size(), 0);
    double largest = 0;
    for (const auto& op : graph.ops()) {
      if (op.kind != OpKind::flow) continue;
      for (const auto resource : graph.path(op.path)) amounts[resource.index()] += op.amount;
      largest = std::max(largest, op.amount);
    }
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto& resource = platform.resources[ids[i].index()];
      // Dates of both engines are good to 1e-9 of the makespan.
      const auto rounding = 1e-7 * timeline.makespan().value() * resource.capacity;
      CHECK(std::abs(carried(use[i], resource.capacity) - amounts[ids[i].index()]) <=
            rounding + 1e-9 * largest);
      for (const auto& change : use[i]) CHECK(change.own <= 1 + 1e-9);
      if (!use[i].empty()) CHECK(use[i].back().own == 0);
    }
  }
}
