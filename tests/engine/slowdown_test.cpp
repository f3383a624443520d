// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/support/small_graphs.hpp"

using namespace gradway;
using namespace gradway::testing;

namespace {

constexpr auto kernel = Contender::Kind::kernel;
constexpr auto collective = Contender::Kind::collective;

/// Two GPUs of capacity 1 (resources 0 and 1) and a link of 100 GB/s (resource 2).
struct Node {
  Platform platform = resources_of({1, 1, 100e9});
  OpGraph graph;

  /// Seconds of work on one GPU at a rate of at most 1.
  OpId add_kernel(double work, std::uint32_t gpu, double slowdown, bool holds = false) {
    Op op = flow_op(work, path_over(graph, {gpu}));
    op.cap = 1;
    op.contender = graph.add_contender({kernel, slowdown, {gpu}, holds});
    return graph.add(op);
  }

  OpId add_collective(double bytes, double cap, double slowdown, Seconds latency = Seconds{0}) {
    Op op = flow_op(bytes, path_over(graph, {2}));
    op.cap = cap;
    op.latency = latency;
    op.contender = graph.add_contender({collective, slowdown, {0, 1}});
    return graph.add(op);
  }
};

}  // namespace

TEST_CASE("a kernel and a collective slow each other while both are in flow", "[engine][slowdown]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  Node node;
  const OpId compute = node.add_kernel(10e-3, 0, 1.25);
  const OpId reduce = node.add_collective(0.2e9, 40e9, 2, 1_ms);

  const Timeline timeline = run_with(engine, node.platform, node.graph);

  // Until 1 ms the collective pays its latency and the kernel is alone: 1 ms done. Then 20 GB/s beside a rate
  // of 0.8: the collective takes 0.2e9 / 20e9 = 10 ms, to 11 ms, in which the kernel does 8 ms. 1 ms is left,
  // alone.
  CHECK(end_of(timeline, reduce) == closed_form(11e-3));
  CHECK(end_of(timeline, compute) == closed_form(12e-3));
}

TEST_CASE("a collective recovers when the concurrent kernel ends", "[engine][slowdown]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  Node node;
  const OpId compute = node.add_kernel(5e-3, 0, 1.25);
  const OpId reduce = node.add_collective(0.2e9, 40e9, 2, 1_ms);

  const Timeline timeline = run_with(engine, node.platform, node.graph);

  // 1 ms alone, 4 ms of work at 0.8: 6 ms. By then 5 ms at 20 GB/s: 0.1e9 are left, at 40 GB/s 2.5 ms.
  CHECK(end_of(timeline, compute) == closed_form(6e-3));
  CHECK(end_of(timeline, reduce) == closed_form(8.5e-3));
}

TEST_CASE("several neighbours slow no more than one, and until the last has ended", "[engine][slowdown]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  Node node;
  const OpId compute = node.add_kernel(8e-3, 0, 2);
  node.add_collective(0.02e9, 10e9, 1);                    // until 2 ms
  const OpId last = node.add_collective(0.06e9, 10e9, 1);  // until 6 ms
  const OpId other = node.add_kernel(1e-3, 1, 2);          // on the other GPU, slowed by them too

  const Timeline timeline = run_with(engine, node.platform, node.graph);

  // Until 6 ms at rate 0.5: 3 ms done, 5 ms left.
  CHECK(end_of(timeline, last) == closed_form(6e-3));
  CHECK(end_of(timeline, compute) == closed_form(11e-3));
  CHECK(end_of(timeline, other) == closed_form(2e-3));
}

TEST_CASE("a collective is slow as long as any of its GPUs computes", "[engine][slowdown]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  Node node;
  node.add_kernel(1e-3, 0, 1);
  node.add_kernel(2e-3, 1, 1);
  const OpId reduce = node.add_collective(0.1e9, 50e9, 2);

  // 25 GB/s until 2 ms: 0.05e9; the other half at 50 GB/s: 1 ms.
  CHECK(end_of(run_with(engine, node.platform, node.graph), reduce) == closed_form(3e-3));
}

TEST_CASE("kernels do not slow kernels, ops on other GPUs, or empty flows", "[engine][slowdown]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  Node node;
  const OpId one = node.add_kernel(2e-3, 0, 3);
  const OpId two = node.add_kernel(1e-3, 0, 3);
  node.add_collective(0, 1e9, 3);
  Op elsewhere = flow_op(1e9, path_over(node.graph, {2}));
  elsewhere.contender = node.graph.add_contender({collective, 3, {1}});
  node.graph.add(elsewhere);

  const Timeline timeline = run_with(engine, node.platform, node.graph);

  // They share the GPU in halves until 2 ms; then the first has 1 ms left.
  CHECK(end_of(timeline, two) == closed_form(2e-3));
  CHECK(end_of(timeline, one) == closed_form(3e-3));
}

TEST_CASE("a flow without a cap is not slowed, but slows others", "[engine][slowdown]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  Node node;
  const OpId reduce = node.add_collective(0.1e9, std::numeric_limits<double>::infinity(), 2);
  const OpId compute = node.add_kernel(1e-3, 0, 2);

  const Timeline timeline = run_with(engine, node.platform, node.graph);

  // 1 ms at 100 GB/s; the kernel does half of its work by then.
  CHECK(end_of(timeline, reduce) == closed_form(1e-3));
  CHECK(end_of(timeline, compute) == closed_form(1.5e-3));
}

TEST_CASE("kernels without gaps between them slow a collective all the time", "[engine][slowdown]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  Node node;
  OpId before = node.add_kernel(1e-6, 0, 1);
  for (int i = 1; i < 1000; ++i) {
    const OpId next = node.add_kernel(1e-6, 0, 1);
    node.graph.add_edge(before, next);
    before = next;
  }
  const OpId reduce = node.add_collective(0.05e9, 50e9, 2);

  // 25 GB/s for 1 ms, 0.025e9 left at 50 GB/s: 0.5 ms.
  CHECK(end_of(run_with(engine, node.platform, node.graph), reduce) == closed_form(1.5e-3));
}

TEST_CASE("a collective waits for the kernels that hold its GPUs, and not for those that follow",
          "[engine][slowdown]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  Node node;
  Op ready;
  ready.kind = OpKind::delay;
  ready.latency = 1_ms;
  const OpId gradient = node.graph.add(ready);
  const OpId held = node.add_kernel(3e-3, 0, 1, true);
  const OpId other = node.add_kernel(2e-3, 1, 1, true);
  const OpId next = node.add_kernel(5e-3, 0, 1, true);
  node.graph.add_edge(held, next);
  const OpId reduce = node.add_collective(0.04e9, 40e9, 1, 0.5_ms);
  node.graph.add_edge(gradient, reduce);

  const Timeline timeline = run_with(engine, node.platform, node.graph);

  // Ready at 1 ms, held until 3 ms, when the kernel on GPU 0 ends; then 0.5 ms of latency and 1 ms of flow.
  CHECK(end_of(timeline, other) == closed_form(2e-3));
  CHECK(timeline.start[reduce.index()].value() == closed_form(3e-3));
  CHECK(end_of(timeline, reduce) == closed_form(4.5e-3));
  CHECK(end_of(timeline, next) == closed_form(8e-3));
}

TEST_CASE("a collective that waits for another GPU slows the kernels beside it", "[engine][slowdown]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  Node node;
  const OpId own = node.add_kernel(2e-3, 0, 1);
  const OpId others = node.add_kernel(6e-3, 1, 1);
  const OpId reduce = node.add_collective(0.04e9, 40e9, 1);
  node.graph.add_edge(own, reduce);
  node.graph.add_edge(others, reduce);
  Op wait;
  wait.kind = OpKind::hold;
  wait.contender = node.graph.add_contender({collective, 1, {0}});
  wait.until = static_cast<std::uint32_t>(reduce.index());
  const OpId hold = node.graph.add(wait);
  node.graph.add_edge(own, hold);
  const OpId beside = node.add_kernel(8e-3, 0, 2);
  node.graph.add_edge(own, beside);

  const Timeline timeline = run_with(engine, node.platform, node.graph);

  // It waits from 2 ms to 6 ms and then moves for 1 ms: the kernel beside it does 2.5 ms of work in 5 ms.
  CHECK(end_of(timeline, reduce) == closed_form(7e-3));
  CHECK(end_of(timeline, hold) == closed_form(7e-3));
  CHECK(end_of(timeline, beside) == closed_form(12.5e-3));
}

TEST_CASE("a kernel that begins at the same date does not hold a collective", "[engine][slowdown]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  Node node;
  const OpId gradient = node.add_kernel(1e-3, 0, 1, true);
  const OpId next = node.add_kernel(4e-3, 0, 1, true);
  const OpId reduce = node.add_collective(0.04e9, 40e9, 1);
  node.graph.add_edge(gradient, next);
  node.graph.add_edge(gradient, reduce);

  CHECK(end_of(run_with(engine, node.platform, node.graph), reduce) == closed_form(2e-3));
}
