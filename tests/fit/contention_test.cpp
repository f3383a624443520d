// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <algorithm>

#include "readers/fit/contention.hpp"

using namespace gradway;

namespace {

ContentionRow row(bool together, Seconds kernel, Seconds collective) {
  return {.transport = Transport::p2p,
          .ranks = 4,
          .precision = Precision::fp32,
          .side = 4096,
          .together = together,
          .kernel_time = kernel,
          .kernels = 16,
          .collective_time = collective,
          .collectives = 20,
          .size = 256_MiB};
}

/// The rows of an experiment by the law.
std::vector<ContentionRow> made(double kernel_slowdown, double collective_slowdown, bool held) {
  const ContentionExperiment trial{2_ms, 16, 5_ms, 20};
  const auto ends = contention_ends(trial, kernel_slowdown, collective_slowdown, held);
  return {row(false, 2_ms, 5_ms), row(true, ends.kernels / 16, ends.collectives / 20)};
}

/// An experiment with other products and sizes, in `channels`.
void add(std::vector<ContentionRow>& rows, int side, Bytes size, int channels, double kernel_slowdown,
         double collective_slowdown) {
  const auto kernel = 2_ms * (side / 4096.0) * (side / 4096.0) * (side / 4096.0);
  const auto collective = 20_us + size / 100_GBps;
  auto alone = row(false, kernel, collective);
  alone.side = side;
  alone.size = size;
  alone.channels = channels;
  const auto ends = contention_ends({kernel, alone.kernels, collective, alone.collectives}, kernel_slowdown,
                                    collective_slowdown, true);
  rows.push_back(alone);
  alone.together = true;
  alone.kernel_time = ends.kernels / alone.kernels;
  alone.collective_time = ends.collectives / alone.collectives;
  rows.push_back(alone);
}

}  // namespace

TEST_CASE("two concurrent rows end by the law: slowed while both run, serialized while a kernel runs") {
  // Kernels of 10 ms take 12 during a collective, which takes 4 alone and 8 with contention. Serialized: the
  // second collective waits for the first kernel's end.
  const ContentionExperiment trial{10_ms, 2, 4_ms, 2};
  const auto ends = contention_ends(trial, 1.2, 2, true);
  // First kernel: 8 ms concurrent (6.667 done), 3.333 alone: 11.333. The second is the same.
  CHECK(ends.kernels.value() == Approx(2 * (8 + 10 - 8 / 1.2) * 1e-3));
  CHECK(ends.collectives.value() == Approx((8 + 10 - 8 / 1.2 + 8) * 1e-3));
  // Not serialized: they follow each other; 16 ms of collectives during kernels.
  const auto free = contention_ends(trial, 1.2, 2, false);
  CHECK(free.collectives.value() == Approx(16e-3));
  CHECK(free.kernels.value() == Approx((16 + 20 - 16 / 1.2) * 1e-3));
}

TEST_CASE("the rest of a row runs at full speed when the other row has ended") {
  const auto ends = contention_ends({1_ms, 1, 10_ms, 3}, 2, 2, false);
  CHECK(ends.kernels.value() == Approx(2e-3));
  CHECK(ends.collectives.value() == Approx((2 + 30 - 1) * 1e-3));
}

TEST_CASE("the fit finds the slow-downs that generated the rows") {
  const auto fitted = fit_contention(made(1.3, 1.2, false), {});
  REQUIRE(fitted.size() == 1);
  CHECK(fitted[0].kernel_slowdown == Approx(1.3));
  CHECK(fitted[0].collective_slowdown == Approx(1.2));
  CHECK(fitted[0].channels == 0);
}

TEST_CASE("the effect of occupied multiprocessors is not counted twice") {
  const NodeFacts node{132, {{{Transport::p2p, 4}, 24}}};
  const auto fitted = fit_contention(made(1.1 * 132 / 108, 1.2, true), node);
  REQUIRE(fitted.size() == 1);
  CHECK(fitted[0].kernel_slowdown == Approx(1.1));
  CHECK(fitted[0].collective_slowdown == Approx(1.2));
  CHECK(fitted[0].channels == 24);
}

TEST_CASE("concurrent rows without their rows alone are left out") {
  CHECK(fit_contention({row(true, 3_ms, 6_ms)}, {}).empty());
}

TEST_CASE(
    "all experiments of a number of channels are met by one pair of factors, whatever one of them says") {
  const NodeFacts node{132, {{{Transport::p2p, 4}, 24}}};
  std::vector<ContentionRow> rows;
  for (const int side : {2048, 4096, 8192}) {
    for (const auto size : {1_MiB, 16_MiB, 256_MiB}) {
      add(rows, side, size, 0, 1.1 * 132 / 108, 1.7);
      add(rows, side, size, 8, 1.05 * 132 / 124, 1.3);
    }
  }
  rows[1].kernel_time = 2.0 * rows[1].kernel_time;
  if (GENERATE(false, true)) std::ranges::reverse(rows);

  const auto fitted = fit_contention(rows, node);

  REQUIRE(fitted.size() == 2);
  CHECK(fitted[0].channels == 8);
  CHECK(fitted[0].kernel_slowdown == Approx(1.05));
  CHECK(fitted[0].collective_slowdown == Approx(1.3));
  CHECK(fitted[0].source ==
        "9 experiments, all-reduces of 1.05 to 268 MB concurrent with products of 2048, 4096, 8192: error of "
        "kernels 0.0 % (worst 0.0 %), of collectives 0.0 % (worst 0.0 %)");
  CHECK(fitted[1].channels == 24);
  CHECK(fitted[1].kernel_slowdown == Approx(1.1));
  CHECK(fitted[1].collective_slowdown == Approx(1.7));
}

TEST_CASE("forced channels equal to NCCL's choice are not a separate case") {
  const NodeFacts node{132, {{{Transport::p2p, 4}, 24}}};
  std::vector<ContentionRow> rows;
  add(rows, 4096, 256_MiB, 0, 1.1 * 132 / 108, 1.7);
  add(rows, 4096, 256_MiB, 24, 1.1 * 132 / 108, 1.7);
  CHECK(fit_contention(rows, node).size() == 1);
  // Without the GPU's multiprocessors the share of the channels is unknown.
  const auto plain = fit_contention(rows, {});
  REQUIRE(plain.size() == 1);
  CHECK(plain[0].channels == 0);
}

TEST_CASE("an experiment is predicted by the closest entry") {
  const NodeFacts node{132, {{{Transport::p2p, 4}, 24}}};
  std::vector<ContentionRow> rows;
  add(rows, 4096, 256_MiB, 0, 1.1 * 132 / 108, 1.7);
  const auto trials = contention_trials(rows);
  REQUIRE(trials.size() == 1);
  const auto fitted = fit_contention(rows, node);
  CHECK(contention_errors(trials[0], fitted, node)->kernels == Approx(0).margin(1e-9));
  CHECK(contention_errors(trials[0], fitted, node)->collectives == Approx(0).margin(1e-9));
  CHECK_FALSE(contention_errors(trials[0], fitted, {}));
  CHECK_FALSE(contention_errors(trials[0], {}, node));
}
