// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/run/simulate.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/tolerances.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

/// One all-reduce of a tensor that takes no time to compute.
Scenario all_reduce_of(int ranks, std::int64_t elements, BytesPerSecond bandwidth, Seconds latency) {
  return ring_scenario(ranks, {{"tensor", 1, 0_ms, 0_ms, elements}},
                       Bytes{4.0 * static_cast<double>(elements)}, bandwidth, latency);
}

}  // namespace

TEST_CASE("a ring all-reduce takes the time of its closed form", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const int ranks = GENERATE(1, 2, 3, 5, 8, 16, 64);
  CAPTURE(engine, ranks);

  const auto run = simulate(all_reduce_of(ranks, 262144, 450_GBps, 5_us), engine);

  // T = 2(n-1) alpha + 2(n-1)/n S / beta, with S = 1 MiB; nothing for one rank
  const double expected =
      ranks == 1 ? 0 : 2.0 * (ranks - 1) * 5e-6 + 2.0 * (ranks - 1) / ranks * 1048576 / 450e9;
  CHECK(run.measured.metrics.step_time.value() == Approx(expected).epsilon(tolerance::closed_form));
}

TEST_CASE("the benchmark workloads match their closed forms", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  struct Row {
    int ranks;
    double all_reduce_ms;
    double ddp_ms;
  };
  const auto row = GENERATE(Row{8, 37.588, 78.757}, Row{64, 42.342, 79.762}, Row{256, 43.037, 84.932});
  CAPTURE(engine, row.ranks);

  const auto all_reduce = simulate(all_reduce_of(row.ranks, 268435456, 50_GBps, Seconds{500e-9}), engine);
  auto ddp = ring_scenario(row.ranks, {{"layer", 24, 1_ms, 2_ms, 12500000}}, 50_MB);
  ddp.model.optimizer_time = 5_ms;
  const auto step = simulate(ddp, engine);

  // 24 forwards, then each all-reduce starts when its layer's backward pass and the one before it have ended,
  // then the optimizer. With A = 2(n-1) 0.5 us + 2(n-1)/n 50 MB / 50 GB/s: 24 + 2 + max(2 x 23, 23 A) + A + 5
  // ms
  const double n = row.ranks;
  const double a = 2 * (n - 1) * 0.5e-3 + 2 * (n - 1) / n;
  const double closed = 24 + 2 + std::max(46.0, 23 * a) + a + 5;
  CHECK(step.measured.metrics.step_time.value() * 1e3 == Approx(closed).epsilon(tolerance::closed_form));
  CHECK(closed == Approx(row.ddp_ms).epsilon(1e-3));
  CHECK(all_reduce.measured.metrics.step_time.value() * 1e3 == Approx(row.all_reduce_ms).epsilon(1e-3));
}
