// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/base/contract.hpp"
#include "tests/support/small_graphs.hpp"

using namespace gradway;
using namespace gradway::testing;

namespace {

/// Two ops of 1 s in one queue, the second after the first, and a third op in parallel.
struct Small {
  OpGraph graph;
  Timeline timeline{{Seconds{0}, Seconds{1}, Seconds{0}}, {Seconds{1}, Seconds{2}, Seconds{2}}};

  Small() {
    const auto queue = graph.add_queue("stream");
    const OpId first = graph.add(in_queue(delay_op(1), queue));
    graph.add(in_queue(delay_op(1), queue));
    graph.add_edge(first, graph.add(delay_op(2)));
    timeline.start[2] = Seconds{1};
    timeline.end[2] = Seconds{3};
  }
};

}  // namespace

TEST_CASE("a valid timeline passes, also with rounding", "[timeline]") {
  Small small;
  CHECK_NOTHROW(check(small.timeline, small.graph));
  small.timeline.start[1] = Seconds{1 - 1e-10};
  small.timeline.start[2] = Seconds{1 - 1e-10};
  CHECK_NOTHROW(check(small.timeline, small.graph));
  CHECK(small.timeline.makespan() == Seconds{3});
  CHECK(small.timeline.duration(OpId{0}) == Seconds{1});
}

TEST_CASE("a timeline that violates its graph is a bug", "[timeline]") {
  Small small;
  SECTION("a date is missing") {
    small.timeline.end.pop_back();
  }
  SECTION("an op starts before what it waits for has ended") {
    small.timeline.start[2] = Seconds{0.9};
  }
  SECTION("two ops are in one queue at once") {
    small.timeline.start[1] = Seconds{0.5};
  }
  SECTION("two ops are in one queue at once, out of order") {
    small.timeline.start[0] = Seconds{1.5};
    small.timeline.end[0] = Seconds{2.5};
    small.timeline.start[2] = Seconds{2.5};
    small.timeline.end[2] = Seconds{4.5};
  }
  SECTION("an op is shorter than its latency") {
    small.timeline.end[2] = Seconds{2.5};
  }
  SECTION("an op starts before the run") {
    small.timeline.start[0] = Seconds{-0.1};
  }
  SECTION("an op never ends") {
    small.timeline.end[2] = Seconds::infinite();
  }
  CHECK_THROWS_AS(check(small.timeline, small.graph), ContractViolation);
}

namespace {

/// Flows that keep a link full to the end, one of them with a cap, and a kernel and a collective that slow
/// each other.
struct Shared {
  OpGraph graph;
  Platform platform = resources_of({100, 40, 1});

  Shared() {
    const auto both = path_over(graph, {0, 1, 1});
    const auto wide = path_over(graph, {0});
    const auto gpu = path_over(graph, {2});
    Op capped = flow_op(60, wide);
    capped.cap = 30;
    capped.latency = Seconds{0.5};
    graph.add(flow_op(50, both));
    graph.add(flow_op(300, wide));
    graph.add(capped);
    Op kernel = flow_op(2, gpu);
    kernel.cap = 1;
    kernel.contender = graph.add_contender({Contender::Kind::kernel, 1.5, {0}});
    graph.add(kernel);
    Op collective = flow_op(40, wide);
    collective.cap = 40;
    collective.weight = 3;
    collective.contender = graph.add_contender({Contender::Kind::collective, 2, {0}});
    graph.add(collective);
  }
};

}  // namespace

TEST_CASE("timelines of engines pass the check of amounts on their platform and fail it on a slower one",
          "[timeline]") {
  const auto engine = GENERATE("simgrid", "fluid");
  const Shared shared;
  const auto run = [&](const Platform& platform) {
    return choose_engine(engine).engine->run(platform, shared.graph);
  };
  CHECK_NOTHROW(check_amounts(run(shared.platform), shared.graph, shared.platform));
  auto faster = shared.platform;
  faster.resources[0].capacity *= 1.001;
  CHECK_THROWS_AS(check_amounts(run(faster), shared.graph, shared.platform), ContractViolation);
  faster = shared.platform;
  faster.resources[1].capacity *= 1.5;
  CHECK_THROWS_AS(check_amounts(run(faster), shared.graph, shared.platform), ContractViolation);
}

TEST_CASE("a flow that exceeds its capacity is a bug", "[timeline]") {
  const auto platform = resources_of({100, 100});
  OpGraph graph;
  const auto path = path_over(graph, {0, 1, 1});
  Timeline timeline;
  const auto add = [&](Op op, double start, double end) {
    graph.add(op);
    timeline.start.emplace_back(start);
    timeline.end.emplace_back(end);
  };
  SECTION("alone it takes what the resource that it uses twice lets through") {
    add(flow_op(100, path), 0, 2);
    CHECK_NOTHROW(check_amounts(timeline, graph, platform));
    timeline.end[0] = Seconds{1.99};
  }
  SECTION("with a cap it takes what that lets through") {
    Op op = flow_op(100, path);
    op.cap = 10;
    add(op, 0, 10);
    CHECK_NOTHROW(check_amounts(timeline, graph, platform));
    timeline.end[0] = Seconds{9.9};
  }
  SECTION("its latency moves nothing") {
    Op op = flow_op(100, path);
    op.latency = Seconds{1};
    add(op, 0, 3);
    CHECK_NOTHROW(check_amounts(timeline, graph, platform));
    timeline.end[0] = Seconds{2.9};
  }
  SECTION("two that overlap share") {
    add(flow_op(100, path), 0, 3);
    add(flow_op(100, path), 1, 4);
    CHECK_NOTHROW(check_amounts(timeline, graph, platform));
    timeline.end[1] = Seconds{3.9};
  }
  SECTION("what lies within the time of another takes from it") {
    add(flow_op(150, path), 0, 5);
    add(flow_op(100, path), 2, 4.5);
    add(flow_op(1, path), 4.9, 9);
    CHECK_NOTHROW(check_amounts(timeline, graph, platform));
    graph.add(flow_op(1, path));
    timeline.start.emplace_back(1);
    timeline.end.emplace_back(2);
  }
  SECTION("a neighbour slows it as long as it is there") {
    Op kernel = flow_op(50, path);
    kernel.cap = 10;
    kernel.contender = graph.add_contender({Contender::Kind::kernel, 2, {0}});
    add(kernel, 0, 7);  // 4 s at 5, 3 s at 10
    Op collective = flow_op(1, path_over(graph, {0}));
    collective.contender = graph.add_contender({Contender::Kind::collective, 1, {0}});
    add(collective, 2, 6);
    CHECK_NOTHROW(check_amounts(timeline, graph, platform));
    timeline.end[0] = Seconds{6.9};
  }
  CHECK_THROWS_AS(check_amounts(timeline, graph, platform), ContractViolation);
}
