// SPDX-License-Identifier: Apache-2.0
#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "sim/engine/engine.hpp"
#include "tests/support/brute_force_engine.hpp"
#include "tests/support/random_graph.hpp"
#include "tests/support/tolerances.hpp"

using namespace gradway;
using namespace gradway::testing;

namespace {

/// rapidcheck prints its seed and, on a failure, the shape and the seed of the smallest case it finds. Fewer
/// ops with the same seed are a prefix of the same graph, so shrinking works.
RandomShape any_shape() {
  RandomShape shape;
  shape.ops = *rc::gen::inRange<std::size_t>(1, 70).as("ops");
  shape.resources = *rc::gen::inRange<std::size_t>(1, 9).as("resources");
  shape.edge_share = 0.1 * *rc::gen::inRange(0, 8).as("edges, in tenths");
  shape.round = *rc::gen::arbitrary<bool>().as("round numbers");
  return shape;
}

void expect_same_dates(const std::vector<Seconds>& actual, const std::vector<Seconds>& expected) {
  RC_ASSERT(actual.size() == expected.size());
  for (std::size_t op = 0; op < actual.size(); ++op) {
    const double error = std::abs((actual[op] - expected[op]).value());
    if (!(error <= tolerance::closed_form * expected[op].value())) {
      RC_LOG() << "op " << op << ": " << actual[op].value() << " s, expected " << expected[op].value()
               << " s\n";
      RC_FAIL("an op has another date than in the brute-force engine");
    }
  }
}

void expect_agreement(const std::string& engine, const RandomCase& made) {
  const Timeline expected = BruteForceEngine{}.run(made.platform, made.graph);
  const Timeline actual = choose_engine(engine).engine->run(made.platform, made.graph);
  check(actual, made.graph);
  expect_same_dates(actual.start, expected.start);
  expect_same_dates(actual.end, expected.end);
}

}  // namespace

TEST_CASE("the fluid engine gives every op of a random graph the dates of the brute-force engine",
          "[differential]") {
  const bool holds = rc::check([] {
    const RandomShape shape = any_shape();
    const auto seed = *rc::gen::arbitrary<std::uint64_t>().as("seed");
    for (std::uint64_t variant = 0; variant < 30; ++variant) {
      RC_LOG() << "variant " << variant << "\n";
      expect_agreement("fluid", random_case(seed + variant, shape));
    }
  });
  CHECK(holds);
}

TEST_CASE("SimGrid gives every op of a random graph the dates of the brute-force engine", "[differential]") {
  const bool holds = rc::check([] {
    const RandomShape shape = any_shape();
    const auto seed = *rc::gen::arbitrary<std::uint64_t>().as("seed");
    for (std::uint64_t variant = 0; variant < 5; ++variant) {
      RC_LOG() << "variant " << variant << "\n";
      expect_agreement("simgrid", random_case(seed + variant, shape));
    }
  });
  CHECK(holds);
}

TEST_CASE("the engines agree on hundreds of flows that start together on crossing paths", "[differential]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    CAPTURE(engine, seed);
    Dice dice{seed};
    RandomCase made;
    for (int i = 0; i < 64; ++i) {
      made.platform.resources.push_back({ResourceKind::link, 0, dice.between(10e9, 400e9)});
    }
    for (int i = 0; i < 300; ++i) {
      Op op{.kind = OpKind::flow, .latency = 1_us, .amount = dice.between(1e5, 1e9)};
      if (seed == 2) op.weight = dice.between(1e5, 1e8);
      op.path = made.graph.add_path({ResourceId{dice.roll(32)}, ResourceId{32 + dice.roll(32)}});
      made.graph.add(op);
    }

    const Timeline expected = BruteForceEngine{}.run(made.platform, made.graph);
    const Timeline actual = choose_engine(engine).engine->run(made.platform, made.graph);

    double worst = 0;
    for (std::size_t op = 0; op < made.graph.size(); ++op) {
      worst = std::max(worst, std::abs(actual.end[op] / expected.end[op] - 1));
    }
    CHECK(worst <= tolerance::closed_form);
  }
}
