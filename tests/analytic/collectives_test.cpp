// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/engine/engine.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/tolerances.hpp"
#include "tests/support/world_communicator.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

/// Seconds of one collective alone on an ideal ring.
double seconds(CollectiveKind kind, int ranks, const char* engine) {
  auto scenario = ring_scenario(ranks, {}, 1_MB, 100_GBps, 2_us);
  const auto lowered = (*WorldCommunicator{scenario}).lower(kind, 800_MB);
  OpGraph graph;
  for (const auto& flow : lowered.flows) {
    Op op;
    op.kind = OpKind::flow;
    op.latency = lowered.latency;
    op.amount = flow.amount.value();
    op.cap = flow.cap;
    op.path = graph.add_path(flow.path);
    graph.add(op);
  }
  return choose_engine(engine).engine->run(scenario.platform, graph).makespan().value();
}

}  // namespace

TEST_CASE("every collective on an ideal ring takes the time of its closed form", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const int ranks = GENERATE(2, 3, 8, 32);
  CAPTURE(engine, ranks);
  const double n = ranks;
  const double whole = 800e6 / 100e9;  // the buffer once over a link
  const auto closed = [](double value) { return Approx(value).epsilon(tolerance::closed_form); };

  CHECK(seconds(CollectiveKind::all_reduce, ranks, engine) ==
        closed(2 * (n - 1) * 2e-6 + 2 * (n - 1) / n * whole));
  CHECK(seconds(CollectiveKind::all_gather, ranks, engine) == closed((n - 1) * 2e-6 + (n - 1) / n * whole));
  CHECK(seconds(CollectiveKind::reduce_scatter, ranks, engine) ==
        closed((n - 1) * 2e-6 + (n - 1) / n * whole));
  CHECK(seconds(CollectiveKind::broadcast, ranks, engine) == closed((n - 1) * 2e-6 + whole));
  CHECK(seconds(CollectiveKind::send_recv, ranks, engine) == closed(2e-6 + whole));
}
