// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <limits>

#include "sim/engine/engine.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/tolerances.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

struct Neighbour {
  double cap = std::numeric_limits<double>::infinity();
  double weight = 1;
};

/// Seconds of 10 GB over a link of 10 GB/s beside a neighbour's traffic on it.
double seconds(const Neighbour& neighbour, const char* engine) {
  const auto platform = ring_platform(2, 10_GBps, Seconds{});
  OpGraph graph;
  const auto path = graph.add_path({platform.links.front().resource});
  Op other;
  other.kind = OpKind::flow;
  other.amount = std::numeric_limits<double>::infinity();
  other.cap = neighbour.cap;
  other.weight = neighbour.weight;
  other.path = path;
  other.origin.step = Origin::no_step;
  graph.add(other);
  Op own;
  own.kind = OpKind::flow;
  own.amount = 10e9;
  own.path = path;
  const auto id = graph.add(own);
  const auto timeline = choose_engine(engine).engine->run(platform, graph);
  check(timeline, graph);
  CHECK(timeline.end[0] == timeline.end[id.index()]);  // it ends with the run
  return timeline.duration(id).value();
}

}  // namespace

TEST_CASE("a neighbour's traffic takes its share of a link during the whole run", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  CAPTURE(engine);
  const auto closed = [](double value) { return Approx(value).epsilon(tolerance::closed_form); };
  CHECK(seconds({}, engine) == closed(2));                   // halves
  CHECK(seconds({.weight = 3}, engine) == closed(4));        // a quarter is left
  CHECK(seconds({.weight = 0.25}, engine) == closed(1.25));  // four fifths are left
  CHECK(seconds({.cap = 4e9}, engine) == closed(1 / 0.6));   // it wants less than its half
  CHECK(seconds({.cap = 8e9}, engine) == closed(2));         // it wants more, and gets its half
}
