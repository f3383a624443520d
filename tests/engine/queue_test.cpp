// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/support/small_graphs.hpp"

using namespace gradway;
using namespace gradway::testing;

TEST_CASE("a queue serves one op at a time, in the order in which they get ready", "[engine][queue]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  OpGraph graph;
  const auto queue = graph.add_queue("stream");
  const OpId late = graph.add(in_queue(delay_op(1), queue));
  const OpId early = graph.add(in_queue(delay_op(1), queue));
  const OpId first = graph.add(in_queue(delay_op(1), queue));
  graph.add_edge(graph.add(delay_op(0.5)), late);
  graph.add_edge(graph.add(delay_op(0.25)), early);

  const Timeline timeline = run_with(engine, resources_of({}), graph);

  CHECK(start_of(timeline, first) == 0);
  CHECK(start_of(timeline, early) == closed_form(1));
  CHECK(start_of(timeline, late) == closed_form(2));
  CHECK(timeline.makespan().value() == closed_form(3));
}

TEST_CASE("ops that become ready at the same date are served in order of id", "[engine][queue]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  OpGraph graph;
  const auto queue = graph.add_queue("stream");
  const OpId a = graph.add(in_queue(delay_op(1), queue));
  const OpId b = graph.add(in_queue(delay_op(1), queue));
  const OpId c = graph.add(in_queue(delay_op(1), queue));
  const OpId gate = graph.add(delay_op(1));
  for (const OpId op : {c, a, b}) graph.add_edge(gate, op);

  const Timeline timeline = run_with(engine, resources_of({}), graph);

  CHECK(start_of(timeline, a) == closed_form(1));
  CHECK(start_of(timeline, b) == closed_form(2));
  CHECK(start_of(timeline, c) == closed_form(3));
}

TEST_CASE("rounding does not decide the order of a queue", "[engine][queue]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  const bool as_flows = GENERATE(false, true);
  CAPTURE(engine, as_flows);
  OpGraph graph;
  const auto queue = graph.add_queue("stream");
  const auto one = path_over(graph, {0});
  const auto other = path_over(graph, {1});
  const OpId a = graph.add(in_queue(delay_op(1), queue));
  const OpId b = graph.add(in_queue(delay_op(1), queue));
  const OpId part = graph.add(as_flows ? flow_op(0.1, one) : delay_op(0.1));
  const OpId rest = graph.add(as_flows ? flow_op(0.2, one) : delay_op(0.2));
  graph.add_edge(part, rest);
  graph.add_edge(rest, a);  // 0.1 + 0.2 is above 0.3 in floating point
  graph.add_edge(graph.add(as_flows ? flow_op(0.3, other) : delay_op(0.3)), b);

  const Timeline timeline = run_with(engine, resources_of({1, 1}), graph);

  CHECK(start_of(timeline, a) == closed_form(0.3));
  CHECK(start_of(timeline, b) == closed_form(1.3));
}

TEST_CASE("joins end before a queue admits an op", "[engine][queue]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  OpGraph graph;
  const auto queue = graph.add_queue("stream");
  const OpId behind_joins = graph.add(in_queue(delay_op(1), queue));
  const OpId direct = graph.add(in_queue(delay_op(1), queue));
  const OpId gate = graph.add(delay_op(1));
  const OpId join = graph.add(Op{});
  const OpId second_join = graph.add(Op{});
  graph.add_edge(gate, direct);
  graph.add_edge(gate, join);
  graph.add_edge(join, second_join);
  graph.add_edge(second_join, behind_joins);

  const Timeline timeline = run_with(engine, resources_of({}), graph);

  CHECK(start_of(timeline, behind_joins) == closed_form(1));
  CHECK(start_of(timeline, direct) == closed_form(2));
}

TEST_CASE("an op holds its queue through its latency and its flow", "[engine][queue]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  OpGraph graph;
  const auto queue = graph.add_queue("copy engine");
  Op op = in_queue(flow_op(1e9, path_over(graph, {0})), queue);
  op.latency = 1_ms;
  std::vector<OpId> copies;
  for (int i = 0; i < 4; ++i) copies.push_back(graph.add(op));

  const Timeline timeline = run_with(engine, resources_of({1e12}), graph);

  for (std::size_t i = 0; i < copies.size(); ++i) {
    CHECK(end_of(timeline, copies[i]) == closed_form(2e-3 * static_cast<double>(i + 1)));
  }
}

TEST_CASE("ops without duration pass through a queue one after the other at one date", "[engine][queue]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  OpGraph graph;
  const auto queue = graph.add_queue("stream");
  OpId before = graph.add(delay_op(0.5));
  for (int i = 0; i < 1000; ++i) {
    const OpId next = graph.add(in_queue(Op{}, queue));
    graph.add_edge(before, next);
    graph.add(in_queue(flow_op(0, path_over(graph, {})), queue));
    before = next;
  }

  CHECK(run_with(engine, resources_of({}), graph).makespan().value() == closed_form(0.5));
}
