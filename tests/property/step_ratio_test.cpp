// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>

#include "sim/trust/step_ratio.hpp"

using namespace gradway;

namespace {

struct Prediction {
  Seconds step{};
  std::vector<PossibleError> errors{};
};

Expected ratio(const Prediction& one, const Prediction& other) {
  return step_ratio(one.step, one.errors, other.step, other.errors);
}

/// Up to six errors, of few kinds, so that two predictions share some.
Prediction any_prediction() {
  Prediction made{Seconds{*rc::gen::inRange(1, 1000) / 1e3}};
  const auto count = *rc::gen::inRange(0, 6);
  for (int i = 0; i < count; ++i) {
    made.errors.push_back({.cause = {static_cast<PartOfStep>(*rc::gen::inRange(0, 6)),
                                     std::string(1, *rc::gen::inRange('a', 'd'))},
                           .time = made.step * (*rc::gen::inRange(0, 100) / 600.0),
                           .uncertainty = *rc::gen::inRange(0, 300) / 100.0});
  }
  return made;
}

}  // namespace

TEST_CASE("a prediction compared with itself has ratio one without uncertainty", "[property][ratio]") {
  rc::prop("made-up errors", [] {
    const auto one = any_prediction();
    const auto same = ratio(one, one);
    RC_ASSERT(same.value == 1);
    RC_ASSERT(same.low == 1);
    RC_ASSERT(same.high == 1);
  });
}

TEST_CASE("the ratio of two predictions in reverse order is the inverse", "[property][ratio]") {
  rc::prop("made-up errors", [] {
    const auto one = any_prediction();
    const auto other = any_prediction();
    const auto there = ratio(one, other);
    const auto back = ratio(other, one);
    RC_ASSERT(there.low <= there.value);
    RC_ASSERT(there.value <= there.high);
    RC_ASSERT(std::abs(there.value * back.value - 1) < 1e-12);
    RC_ASSERT(std::abs(there.low * back.high - 1) < 1e-12);
    RC_ASSERT(std::abs(there.high * back.low - 1) < 1e-12);
  });
}

TEST_CASE("the probabilities that either of two predictions is faster add up to one", "[property][ratio]") {
  rc::prop("made-up errors", [] {
    const auto one = any_prediction();
    const auto other = any_prediction();
    const auto there = probability_of_less(ratio(one, other));
    RC_ASSERT(0 <= there);
    RC_ASSERT(there <= 1);
    RC_ASSERT(std::abs(there + probability_of_less(ratio(other, one)) - 1) < 1e-9);
    // If the 90 % interval excludes one, at most 5 % of the cases have the other order.
    const auto between = ratio(one, other);
    if (between.high < 1) RC_ASSERT(there > 0.95 - 1e-3);
    if (between.low <= 1 && 1 <= between.high && between.value < 1) RC_ASSERT(there < 0.95 + 1e-3);
  });
}
