// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cmath>

#include "observe/watch/watch.hpp"
#include "sim/base/random.hpp"

using namespace gradway;

namespace {

/// 400 steps of 100 ms with normal noise of 1 %, changed by a function of the step.
template <class Change>
std::vector<Seconds> steps_with(const Change& change, std::uint64_t seed = 1) {
  Random random{seed, RandomStream::clients};
  std::vector<Seconds> times;
  for (int i = 0; i < 400; ++i) times.push_back(Seconds{change(i, 0.1 * (1 + 0.01 * random.normal()))});
  return times;
}

double unchanged(int, double time) {
  return time;
}

}  // namespace

TEST_CASE("noise alone is healthy") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    const auto run = watch_steps(steps_with(unchanged, seed), {});
    CHECK(run.findings.empty());
    CHECK(run.lost_share() == 0);
  }
}

TEST_CASE("a jump is found at its step, with what it costs") {
  const auto run = watch_steps(steps_with([](int i, double t) { return i < 250 ? t : 1.2 * t; }), {});
  REQUIRE(run.findings.size() == 1);
  const auto& jump = run.findings[0];
  CHECK(jump.kind == WatchKind::jump);
  CHECK(jump.first >= 247);
  CHECK(jump.first <= 253);
  CHECK(jump.last == 399);
  CHECK(jump.before.value() == Approx(0.1).epsilon(0.005));
  CHECK(jump.after.value() == Approx(0.12).epsilon(0.005));
  CHECK(jump.lost.value() == Approx(150 * 0.02).epsilon(0.05));
  CHECK(run.lost_share() == Approx(3 / 43.0).epsilon(0.05));
}

TEST_CASE("a slow phase that ends is two jumps, of which the first costs time") {
  const auto run =
      watch_steps(steps_with([](int i, double t) { return i < 100 || i >= 200 ? t : 1.1 * t; }), {});
  REQUIRE(run.findings.size() == 2);
  CHECK(run.findings[0].after > run.findings[0].before);
  CHECK(run.findings[0].lost.value() == Approx(100 * 0.01).epsilon(0.1));
  CHECK(run.findings[1].after < run.findings[1].before);
  CHECK(run.findings[1].lost.value() == 0);
}

TEST_CASE("a drift is a line, not a staircase of jumps") {
  const auto run = watch_steps(steps_with([](int i, double t) { return t * (1 + 0.3 * i / 399.0); }), {});
  REQUIRE(run.findings.size() == 1);
  CHECK(run.findings[0].kind == WatchKind::drift);
  CHECK(run.findings[0].before.value() == Approx(0.1).epsilon(0.01));
  CHECK(run.findings[0].after.value() == Approx(0.13).epsilon(0.01));
  CHECK(run.findings[0].lost.value() == Approx(400 * 0.015).epsilon(0.05));
}

TEST_CASE("periodic stalls and random stalls are found separately") {
  const auto run = watch_steps(steps_with([](int i, double t) {
                                 if (i % 50 == 20) return t + 1.0;
                                 return i == 77 || i == 203 ? t + 0.3 : t;
                               }),
                               {});
  REQUIRE(run.findings.size() == 2);
  CHECK(run.findings[0].kind == WatchKind::periodic_stalls);
  CHECK(run.findings[0].period == 50);
  CHECK(run.findings[0].steps == 8);
  CHECK(run.findings[0].first == 20);
  CHECK(run.findings[0].lost.value() == Approx(8 * 1.0).epsilon(0.01));
  CHECK(run.findings[1].kind == WatchKind::random_stalls);
  CHECK(run.findings[1].steps == 2);
  CHECK(run.findings[1].lost.value() == Approx(2 * 0.3).epsilon(0.02));
}

TEST_CASE("long first steps are the warm-up") {
  const auto run = watch_steps(steps_with([](int i, double t) { return i < 3 ? 20 * t : t; }), {});
  CHECK(run.warm_up == 3);
  CHECK(run.findings.empty());
}

TEST_CASE("a run is compared with the prediction interval") {
  const auto times = steps_with(unchanged);
  CHECK(watch_steps(times, ExpectedSteps{Seconds{0.09}, Seconds{0.1}, Seconds{0.11}}).findings.empty());
  const auto slow = watch_steps(times, ExpectedSteps{Seconds{0.07}, Seconds{0.075}, Seconds{0.08}});
  REQUIRE(slow.findings.size() == 1);
  CHECK(slow.findings[0].kind == WatchKind::slower_than_expected);
  CHECK(slow.lost_share() == Approx(0.2).epsilon(0.01));
  const auto fast = watch_steps(times, ExpectedSteps{Seconds{0.2}, Seconds{0.21}, Seconds{0.22}});
  REQUIRE(fast.findings.size() == 1);
  CHECK(fast.findings[0].kind == WatchKind::faster_than_expected);
  CHECK(fast.lost_share() == 0);
}
