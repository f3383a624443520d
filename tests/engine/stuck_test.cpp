// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/base/problem.hpp"
#include "tests/support/small_graphs.hpp"

using namespace gradway;
using namespace gradway::testing;

namespace {

std::string error_of(const std::string& engine, const Platform& platform, const OpGraph& graph) {
  try {
    run_with(engine, platform, graph);
  } catch (const SimulationError& error) {
    return error.what();
  }
  return "no error";
}

Op with_origin(Op op, Origin origin) {
  op.origin = origin;
  return op;
}

}  // namespace

TEST_CASE("ops that wait for each other are named as a cycle", "[engine][stuck]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  OpGraph graph;
  const OpId fine = graph.add(delay_op(1));
  const OpId kernel =
      graph.add(with_origin(delay_op(1), {.actor = 3, .step = 1, .activity = Activity::kernel}));
  const OpId collective = graph.add(with_origin(delay_op(1), {.activity = Activity::collective}));
  const OpId after = graph.add(delay_op(1));
  graph.add_edge(fine, kernel);
  graph.add_edge(kernel, collective);
  graph.add_edge(collective, kernel);
  graph.add_edge(collective, after);

  CHECK(error_of(engine, resources_of({}), graph) ==
        "the run cannot complete: 3 of 4 ops never end: 2 ops wait for each other: "
        "op 1 (kernel, rank 3, step 1) waits for op 2; "
        "op 2 (collective, all ranks, step 0) waits for op 1");
}

TEST_CASE("an op that waits for itself is named once", "[engine][stuck]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  OpGraph graph;
  const OpId op = graph.add(Op{});
  graph.add_edge(op, op);

  CHECK(error_of(engine, resources_of({}), graph) ==
        "the run cannot complete: 1 of 1 ops never end: op 0 (marker, all ranks, step 0) waits for op 0");
}

TEST_CASE("a long cycle is shortened in the middle", "[engine][stuck]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  OpGraph graph;
  for (int i = 0; i < 20; ++i) graph.add(with_origin(Op{}, {.actor = i, .activity = Activity::launch}));
  for (std::size_t i = 0; i < 20; ++i) graph.add_edge(OpId{(i + 1) % 20}, OpId{i});

  CHECK(error_of(engine, resources_of({}), graph) ==
        "the run cannot complete: 20 of 20 ops never end: 20 ops wait for each other: "
        "op 0 (launch, rank 0, step 0) waits for op 1; "
        "op 1 (launch, rank 1, step 0) waits for op 2; "
        "op 2 (launch, rank 2, step 0) waits for op 3; "
        "op 3 (launch, rank 3, step 0) waits for op 4; "
        "op 4 (launch, rank 4, step 0) waits for op 5; "
        "op 5 (launch, rank 5, step 0) waits for op 6; 8 more; "
        "op 14 (launch, rank 14, step 0) waits for op 15; "
        "op 15 (launch, rank 15, step 0) waits for op 16; "
        "op 16 (launch, rank 16, step 0) waits for op 17; "
        "op 17 (launch, rank 17, step 0) waits for op 18; "
        "op 18 (launch, rank 18, step 0) waits for op 19; "
        "op 19 (launch, rank 19, step 0) waits for op 0");
}

TEST_CASE("ops that wait lead to a flow that cannot move", "[engine][stuck]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  OpGraph graph;
  const auto queue = graph.add_queue("gpu 0 copies in");
  const OpId next =
      graph.add(with_origin(in_queue(delay_op(1), queue), {.actor = 0, .activity = Activity::copy}));
  const Op blocked = in_queue(flow_op(1, path_over(graph, {0})), queue);
  graph.add(with_origin(blocked, {.actor = 0, .activity = Activity::copy}));
  graph.add_edge(graph.add(delay_op(1)), next);

  CHECK(error_of(engine, resources_of({0}), graph) ==
        "the run cannot complete: 2 of 3 ops never end: "
        "op 0 (copy, rank 0, step 0) waits in queue 'gpu 0 copies in' for op 1; "
        "op 1 (copy, rank 0, step 0) moves at rate 0");
}

TEST_CASE("an infinite latency is an error, not an endless run", "[engine][stuck]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  OpGraph graph;
  graph.add(delay_op(std::numeric_limits<double>::infinity()));

  CHECK(error_of(engine, resources_of({}), graph) ==
        "the run cannot complete: 1 of 1 ops never end: op 0 (marker, all ranks, step 0) has an "
        "infinite latency");
}
