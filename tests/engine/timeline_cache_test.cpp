// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <functional>
#include <utility>

#include "sim/engine/timeline_cache.hpp"
#include "tests/support/small_graphs.hpp"

using namespace gradway;
using namespace gradway::testing;

namespace {

/// A delay, then a flow over two resources.
OpGraph small_graph(const std::function<void(Op&)>& change = [](Op&) {}) {
  OpGraph graph;
  const auto path = path_over(graph, {0, 1});
  auto flow = flow_op(6, path);
  change(flow);
  const auto first = graph.add(delay_op(1));
  graph.add_edge(first, graph.add(flow));
  return graph;
}

Timeline of_small_graph(const Platform& platform) {
  return run_with("fluid", platform, small_graph());
}

}  // namespace

TEST_CASE("the cache has the timeline of an equal graph, once") {
  const auto platform = resources_of({2, 3, 5});
  TimelineCache cache;
  CHECK_FALSE(cache.take("fluid", platform, small_graph()));
  cache.keep("fluid", platform, small_graph(), of_small_graph(platform));

  const auto found = cache.take("fluid", platform, small_graph());
  REQUIRE(found);
  CHECK(found->start == of_small_graph(platform).start);
  CHECK(found->end == of_small_graph(platform).end);
  CHECK_FALSE(cache.take("fluid", platform, small_graph()));
}

TEST_CASE("the cache has no timeline for another engine, other rates on the paths or another graph") {
  const auto platform = resources_of({2, 3, 5});
  TimelineCache cache;
  cache.keep("fluid", platform, small_graph(), of_small_graph(platform));

  CHECK_FALSE(cache.take("simgrid", platform, small_graph()));
  CHECK_FALSE(cache.take("fluid", resources_of({2, 4, 5}), small_graph()));
  const auto change = GENERATE(values<std::function<void(Op&)>>({
      [](Op& op) { op.amount = 7; },
      [](Op& op) { op.latency = Seconds{1e-9}; },
      [](Op& op) { op.cap = 1; },
      [](Op& op) { op.weight = 2; },
      [](Op& op) { op.origin.step = 1; },
  }));
  CHECK_FALSE(cache.take("fluid", platform, small_graph(change)));
  auto with_edge = small_graph();
  with_edge.add_edge(OpId{0}, OpId{1});
  CHECK_FALSE(cache.take("fluid", platform, with_edge));

  CHECK(cache.take("fluid", resources_of({2, 3, 7}), small_graph()));  // no path uses the last resource
}

TEST_CASE("the cache drops the timelines that were not used for longest") {
  const auto platform = resources_of({});
  const auto graph = [](double first) {
    OpGraph all;
    all.add(delay_op(first));
    for (int i = 1; i < 20'000; ++i) all.add(delay_op(1));
    return all;
  };
  TimelineCache cache;
  const auto keep = [&](double first) {
    cache.keep("fluid", platform, graph(first), run_with("fluid", platform, graph(first)));
  };
  keep(1);
  keep(2);
  auto first = cache.take("fluid", platform, graph(1));
  REQUIRE(first);
  cache.keep("fluid", platform, graph(1), *std::move(first));
  keep(3);
  keep(4);
  CHECK_FALSE(cache.take("fluid", platform, graph(2)));
  for (const double kept : {1, 3, 4}) CHECK(cache.take("fluid", platform, graph(kept)));
}
