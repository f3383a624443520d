// SPDX-License-Identifier: Apache-2.0
// Closed forms of interrupted training, with values computed by hand and published ones.
#include <cmath>
#include <numbers>

#include <catch2/catch.hpp>

#include "sim/campaign/formulas.hpp"

using namespace gradway;

namespace {

struct Row {
  double mttf, pause, restart, young, daly, efficiency;
};

/// Computed by hand from the formulas, with M, d and R in seconds.
const Row rows[] = {{8424, 20, 300, 580.5, 567.2, 0.9000},
                    {8424, 60, 600, 1005.4, 965.8, 0.8244},
                    {28440, 60, 300, 1847.4, 1807.6, 0.9266},
                    {86400, 120, 600, 4553.7, 4474.0, 0.9417}};

Interruptions of(const Row& row) {
  return {Seconds{row.mttf}, Seconds{row.pause}, Seconds{row.restart}};
}

}  // namespace

TEST_CASE("Young's and Daly's intervals and the exact efficiency match tabulated values",
          "[campaign][formulas]") {
  for (const auto& row : rows) {
    CAPTURE(row.mttf, row.pause);
    CHECK(young_interval(of(row)).value() == Approx(row.young).margin(0.05));
    CHECK(daly_interval(of(row)).value() == Approx(row.daly).margin(0.05));
    CHECK(efficiency(of(row), Seconds{row.young}) == Approx(row.efficiency).margin(0.0001));  // four digits
  }
}

TEST_CASE("with rare failures the efficiency approaches its small-loss form", "[campaign][formulas]") {
  // 1 - E = d/t + t/2M + R/M, whose error is of second order
  const Interruptions rare{Seconds{1e7}, Seconds{10}, Seconds{100}};
  const Seconds interval{1e4};
  CHECK(1 - efficiency(rare, interval) == Approx(10 / 1e4 + 1e4 / 2e7 + 100 / 1e7).epsilon(0.01));
}

TEST_CASE("Daly's interval is the mean time to failure where a pause is longer than twice that",
          "[campaign][formulas]") {
  CHECK(daly_interval({Seconds{100}, Seconds{200}, Seconds{}}).value() == 100);
}

TEST_CASE("the expected ETTR of Meta's inputs is Meta's", "[campaign][formulas]") {
  // 512 nodes, 6.5 of 1,000 node-days, restart and write 5 min, an hour between checkpoints:
  // (1 - 3.328/day (5 + 30 min)) / (1 + 5/60)
  const Seconds mttf{86400 / (512 * 6.5e-3)};
  CHECK(expected_ettr({mttf, Seconds{300}, Seconds{300}}, Seconds{3600}) ==
        Approx((1 - 3.328 * 35 / 1440) / (1 + 5.0 / 60)));
}

TEST_CASE("the expected maximum of normal numbers matches tables", "[campaign][formulas]") {
  // Order statistics: 1/sqrt(pi) of two, 3/(2 sqrt(pi)) of three; 1.53875 of ten, 2.50759 of a
  // hundred, 3.24144 of a thousand (Harter, Biometrika 48, 1961).
  CHECK(expected_maximum(1) == 0);
  CHECK(expected_maximum(2) == Approx(1 / std::sqrt(std::numbers::pi)).epsilon(1e-5));
  CHECK(expected_maximum(3) == Approx(1.5 / std::sqrt(std::numbers::pi)).epsilon(1e-5));
  CHECK(expected_maximum(10) == Approx(1.53875).epsilon(1e-5));
  CHECK(expected_maximum(100) == Approx(2.50759).epsilon(1e-5));
  CHECK(expected_maximum(1000) == Approx(3.24144).epsilon(1e-5));
}
