// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/support/small_graphs.hpp"

using namespace gradway;
using namespace gradway::testing;

TEST_CASE("one transfer takes its latency and its amount over the tightest capacity", "[engine]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  const double amount = GENERATE(1.0, 0.3, 4096.0, 1e9, 1e12);
  CAPTURE(engine, amount);
  OpGraph graph;
  Op op = flow_op(amount, path_over(graph, {0, 1}));
  op.latency = 5_us;
  const OpId transfer = graph.add(op);

  const Timeline timeline = run_with(engine, resources_of({450e9, 50e9}), graph);

  CHECK(start_of(timeline, transfer) == 0);
  CHECK(end_of(timeline, transfer) == closed_form(5e-6 + amount / 50e9));
}

TEST_CASE("work of any length on a GPU keeps its precision", "[engine]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  const double work = GENERATE(1e-9, 1e-6, 3.3e-6, 1.0);
  CAPTURE(engine, work);
  OpGraph graph;
  const OpId kernel = graph.add(flow_op(work, path_over(graph, {0})));

  CHECK(end_of(run_with(engine, resources_of({1}), graph), kernel) == closed_form(work));
}

TEST_CASE("two flows share a link in halves, and the longer one has it to itself afterwards", "[engine]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  OpGraph graph;
  const auto path = path_over(graph, {0});
  const OpId brief = graph.add(flow_op(1e9, path));
  const OpId lengthy = graph.add(flow_op(3e9, path));

  const Timeline timeline = run_with(engine, resources_of({10e9}), graph);

  // 5 GB/s each until 1 GB is through at 0.2 s; then 2 GB are left at 10 GB/s.
  CHECK(end_of(timeline, brief) == closed_form(0.2));
  CHECK(end_of(timeline, lengthy) == closed_form(0.4));
}

TEST_CASE("a flow of weight three gets three times the rate of a flow of weight one", "[engine]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  OpGraph graph;
  const auto path = path_over(graph, {0});
  Op op = flow_op(3e9, path);
  op.weight = 3;
  const OpId heavy = graph.add(op);
  const OpId light = graph.add(flow_op(2e9, path));

  const Timeline timeline = run_with(engine, resources_of({4e9}), graph);

  // 3 and 1 GB/s until 1 s; the light one has 1 GB left and all of 4 GB/s.
  CHECK(end_of(timeline, heavy) == closed_form(1));
  CHECK(end_of(timeline, light) == closed_form(1.25));
}

TEST_CASE("a cap limits a flow and leaves the rest to the others", "[engine]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  OpGraph graph;
  const auto path = path_over(graph, {0});
  Op op = flow_op(2e9, path);
  op.cap = 2e9;
  const OpId capped = graph.add(op);
  const OpId free = graph.add(flow_op(16e9, path));

  const Timeline timeline = run_with(engine, resources_of({10e9}), graph);

  // 2 and 8 GB/s until 1 s; 8 GB are left at 10 GB/s.
  CHECK(end_of(timeline, capped) == closed_form(1));
  CHECK(end_of(timeline, free) == closed_form(1.8));
}

TEST_CASE("flows reach their caps in the order of cap over weight", "[engine]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  OpGraph graph;
  const auto path = path_over(graph, {0});
  Op op = flow_op(4e9, path);
  op.weight = 4;
  op.cap = 4e9;  // at level 1e9
  const OpId heavy = graph.add(op);
  op = flow_op(3e9, path);
  op.cap = 3e9;  // at level 3e9
  const OpId light = graph.add(op);
  const OpId free = graph.add(flow_op(4e9, path));

  const Timeline timeline = run_with(engine, resources_of({11e9}), graph);

  // 4 + 3 + 4 = 11: level 1e9 fixes the first; 7e9 are left for two, of which one takes no more than 3e9.
  CHECK(end_of(timeline, heavy) == closed_form(1));
  CHECK(end_of(timeline, light) == closed_form(1));
  CHECK(end_of(timeline, free) == closed_form(1));
}

TEST_CASE("a path that names a resource k times uses it k times over", "[engine]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  const std::size_t times = GENERATE(1, 2, 3, 16);
  CAPTURE(engine, times);
  OpGraph graph;
  const OpId copy = graph.add(flow_op(1e9, path_over(graph, std::vector<std::size_t>(times, 0))));

  // Each byte takes k bytes of the capacity.
  CHECK(end_of(run_with(engine, resources_of({8e9}), graph), copy) ==
        closed_form(0.125 * static_cast<double>(times)));
}

TEST_CASE("a flow that uses a link twice and one that uses it once move at the same rate", "[engine]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  OpGraph graph;
  const OpId twice = graph.add(flow_op(1e9, path_over(graph, {0, 0})));
  const OpId once = graph.add(flow_op(2e9, path_over(graph, {0})));

  const Timeline timeline = run_with(engine, resources_of({3e9}), graph);

  // 2r + r = 3e9. After 1 s the second has 1 GB left, at 3 GB/s.
  CHECK(end_of(timeline, twice) == closed_form(1));
  CHECK(end_of(timeline, once) == closed_form(1 + 1.0 / 3));
}

TEST_CASE("unused capacity goes to other flows, along a chain of links", "[engine]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  OpGraph graph;
  const OpId a = graph.add(flow_op(1e9, path_over(graph, {0})));
  const OpId b = graph.add(flow_op(1e9, path_over(graph, {0, 1})));
  const OpId c = graph.add(flow_op(9e9, path_over(graph, {1})));

  const Timeline timeline = run_with(engine, resources_of({2e9, 10e9}), graph);

  // Link 0 gives a and b 1 GB/s each; c has the other 9 GB/s of link 1. All end at 1 s.
  CHECK(end_of(timeline, a) == closed_form(1));
  CHECK(end_of(timeline, b) == closed_form(1));
  CHECK(end_of(timeline, c) == closed_form(1));
}

TEST_CASE("flows that start together never overload a link that they cross", "[engine]") {
  // SimGrid's default ("Lazy") update gives 1.000002 s here: it lets 20 GB/s through the link of 10 GB/s.
  const std::string engine = GENERATE("simgrid", "fluid");
  OpGraph graph;
  const auto add = [&](double amount, const std::vector<std::size_t>& links) {
    Op op = flow_op(amount, path_over(graph, links));
    op.latency = 2_us;  // 1 us a link
    return graph.add(op);
  };
  add(1e9, {0, 1});
  add(1e9, {3, 1});
  const OpId b = add(10e9, {0, 2});
  const OpId d = add(10e9, {3, 2});

  const Timeline timeline = run_with(engine, resources_of({100e9, 100e9, 10e9, 100e9}), graph);

  // 5 GB/s each on link 2, whatever the others do.
  CHECK(end_of(timeline, b) == closed_form(2.000002));
  CHECK(end_of(timeline, d) == closed_form(2.000002));
}

TEST_CASE("a longer latency delays a flow but does not lower its share", "[engine]") {
  // By default SimGrid weights flows by their latency: 15 ms and 20 ms.
  const std::string engine = GENERATE("simgrid", "fluid");
  OpGraph graph;
  Op op = flow_op(1e9, path_over(graph, {0}));
  op.latency = 2_us;
  const OpId near = graph.add(op);
  op.latency = 4_us;
  const OpId far = graph.add(op);

  const Timeline timeline = run_with(engine, resources_of({100e9}), graph);

  // NoExchange for 2 us: 2e5 bytes. Then 50 GB/s each: (1e9 - 2e5) / 50e9 = 19.996 ms. The other has 2e5
  // bytes left: 2 us.
  CHECK(end_of(timeline, near) == closed_form(20e-3));
  CHECK(end_of(timeline, far) == closed_form(20.002e-3));
}

TEST_CASE("a flow without resources moves at its cap, or ends at once without one", "[engine]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  OpGraph graph;
  const auto nowhere = path_over(graph, {});
  const auto boundless = path_over(graph, {0});
  Op op = flow_op(1e9, GENERATE_COPY(nowhere, boundless));
  op.latency = 1_ms;
  const OpId free = graph.add(op);
  op.cap = 4e9;
  const OpId capped = graph.add(op);
  op.cap = 1e9;
  const OpId slow = graph.add(op);

  const Timeline timeline = run_with(engine, resources_of({std::numeric_limits<double>::infinity()}), graph);

  CHECK(end_of(timeline, free) == closed_form(1e-3));
  CHECK(end_of(timeline, capped) == closed_form(0.251));
  CHECK(end_of(timeline, slow) == closed_form(1.001));
}

TEST_CASE("an empty flow ends after its latency, even on a blocked path", "[engine]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  OpGraph graph;
  Op op = flow_op(0, path_over(graph, {0}));
  const OpId at_once = graph.add(op);
  op.latency = 3_us;
  const OpId later = graph.add(op);

  const Timeline timeline = run_with(engine, resources_of({0}), graph);

  CHECK(end_of(timeline, at_once) == 0);
  CHECK(end_of(timeline, later) == closed_form(3e-6));
}

TEST_CASE("a tiny capacity only makes a flow slow", "[engine]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  OpGraph graph;
  const OpId drop = graph.add(flow_op(1, path_over(graph, {0, 1})));
  const OpId stream = graph.add(flow_op(1e12, path_over(graph, {1})));

  const Timeline timeline = run_with(engine, resources_of({1e-3, 1e6}), graph);

  // 1e-3 B/s for 1000 s, while the other has all but 1e-3 B/s: 1e12 = 1e6 t - 1.
  CHECK(end_of(timeline, drop) == closed_form(1000));
  CHECK(end_of(timeline, stream) == closed_form(1e6 + 1e-6));
}

TEST_CASE("a tiny rest of a link is used, however little a heavy flow leaves", "[engine]") {
  // SimGrid's default precision ignores less than 1e-5 of a link, or of the sum of the weights.
  const std::string engine = GENERATE("simgrid", "fluid");
  OpGraph graph;
  const auto path = path_over(graph, {0});
  Op op = flow_op(1e12, path);
  op.weight = 1e6;
  op.cap = 1e9 - 2000;
  graph.add(op);
  const OpId trickle = graph.add(flow_op(20e3, path));

  // The heavy one reaches its cap first: (1e9 - 2000) / 1e6 < 1e9 / (1e6 + 1). 2000 B/s are left, for 10 s.
  CHECK(end_of(run_with(engine, resources_of({1e9}), graph), trickle) == closed_form(10));
}

TEST_CASE("an empty graph and a graph of joins take no time", "[engine]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  OpGraph graph;
  CHECK(run_with(engine, resources_of({}), graph).makespan() == Seconds{0});

  const OpId first = graph.add(Op{});
  graph.add_edge(first, graph.add(Op{}));
  CHECK(run_with(engine, resources_of({}), graph).makespan() == Seconds{0});
}
