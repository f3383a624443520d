// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/base/contract.hpp"
#include "tests/support/small_graphs.hpp"

using namespace gradway;
using namespace gradway::testing;

namespace {

/// Two ops of 1 s in one queue, the second after the first, and a third beside them.
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

TEST_CASE("a timeline that keeps the laws passes, also when it rounds", "[timeline]") {
  Small small;
  CHECK_NOTHROW(check(small.timeline, small.graph));
  small.timeline.start[1] = Seconds{1 - 1e-10};
  small.timeline.start[2] = Seconds{1 - 1e-10};
  CHECK_NOTHROW(check(small.timeline, small.graph));
  CHECK(small.timeline.makespan() == Seconds{3});
  CHECK(small.timeline.duration(OpId{0}) == Seconds{1});
}

TEST_CASE("a timeline that breaks a law of its graph is a bug", "[timeline]") {
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
