// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/support/small_graphs.hpp"

using namespace gradway;
using namespace gradway::testing;

TEST_CASE("a chain of 10000 short ops ends at the sum of their durations", "[engine][precision]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  OpGraph graph;
  Op transfer = flow_op(1e6, path_over(graph, {0}));
  transfer.latency = 2_us;
  const Op kernel = flow_op(3.3e-6, path_over(graph, {1}));
  OpId before = graph.add(transfer);
  for (int i = 1; i < 10000; ++i) {
    const OpId next = graph.add(i % 2 == 0 ? transfer : kernel);
    graph.add_edge(before, next);
    before = next;
  }

  // 5000 x (2 us + 1 MB / 100 GB/s) + 5000 x 3.3 us
  CHECK(end_of(run_with(engine, resources_of({100e9, 1}), graph), before) ==
        closed_form(5000 * (12e-6 + 3.3e-6)));
}

TEST_CASE("a long flow that is re-shared 5000 times loses nothing", "[engine][precision]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  OpGraph graph;
  const auto path = path_over(graph, {0});
  const auto queue = graph.add_queue("short ones");
  const OpId lengthy = graph.add(flow_op(60e9, path));
  for (int i = 0; i < 5000; ++i) graph.add(in_queue(flow_op(1e6 + i, path), queue));

  // The link is always full: the last byte leaves when all have passed.
  const double all = 60e9 + 5000 * 1e6 + 5000.0 * 4999 / 2;
  CHECK(end_of(run_with(engine, resources_of({100e9}), graph), lengthy) == closed_form(all / 100e9));
}

TEST_CASE("symmetric flows end at exactly the same date", "[engine][precision]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  constexpr std::size_t ranks = 24;
  OpGraph graph;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    graph.add(flow_op(1e9 / 3, path_over(graph, {rank, (rank + 1) % ranks, (rank + 7) % ranks})));
  }

  const Timeline timeline = run_with(engine, resources_of(std::vector<double>(ranks, 0.7e9)), graph);

  // Three flows a link.
  for (const Seconds end : timeline.end) {
    CHECK(end == timeline.end.front());
    CHECK(end.value() == closed_form(1e9 / 0.7e9));
  }
}

TEST_CASE("the same graph gives the same bytes", "[engine][precision]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  OpGraph graph;
  for (std::size_t i = 0; i < 50; ++i) {
    Op op = flow_op(1e6 * static_cast<double>(i * i % 17 + 1), path_over(graph, {i % 5, 5 + i % 3}));
    op.weight = 1 + 0.1 * static_cast<double>(i % 7);
    graph.add(op);
  }
  const Platform platform = resources_of({1e9, 2e9, 3e9, 1.1e9, 0.9e9, 2.3e9, 1.7e9, 0.4e9});

  const Timeline first = run_with(engine, platform, graph);
  const Timeline second = run_with(engine, platform, graph);

  CHECK(first.start == second.start);
  CHECK(first.end == second.end);
}
