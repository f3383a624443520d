// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <algorithm>

#include "readers/fit/fit.hpp"
#include "readers/fit/predictions.hpp"
#include "tests/support/samples.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

/// Samples by exact laws: all-reduces and copies by latency and rate, products at one rate.
Samples exact(std::size_t sizes) {
  Samples samples;
  for (const auto& [size, time] : straight_line(sizes)) {
    samples.collectives.push_back({CollectiveKind::all_reduce, Transport::p2p, {}, {}, 4, size, time});
    samples.copies.push_back({LinkRole::to_gpu, size, 3_us + size / 50_GBps});
  }
  for (const double side : {4096, 5120, 6144, 8192})
    samples.matrix.push_back({Arithmetic::bf16, side, side, side, Seconds{2 * side * side * side / 700e12}});
  return samples;
}

}  // namespace

TEST_CASE("exact laws predict withheld rows without error", "[fit]") {
  const auto calibration = fit(exact(11), {"x", ""}, {});
  REQUIRE(calibration.holdout_errors.size() == 5);
  for (const auto& group : calibration.holdout_errors) {
    CAPTURE(group.what);
    CHECK(group.error.worst == Approx(0).margin(1e-9));
  }
  CHECK(calibration.tables[0].samples == 11);  // the fit of all samples has all of them
}

TEST_CASE("the second of every three sizes is withheld, but never the ends", "[fit]") {
  const auto [kept, held] = hold_back(exact(8));
  std::vector<Bytes> sizes;
  for (const auto& row : held.collectives) sizes.push_back(row.size);
  CHECK(sizes == std::vector<Bytes>{4_KiB, 256_KiB});  // of 1 KiB to 16 MiB; 16 MiB is the largest
  CHECK(kept.collectives.size() == 6);
  CHECK(held.matrix.size() == 1);
  CHECK(hold_back(exact(2)).held.collectives.empty());
}

TEST_CASE("rows of one size are withheld together, in any order", "[fit]") {
  auto samples = exact(8);
  const auto first = samples.collectives;
  samples.collectives.insert(samples.collectives.end(), first.rbegin(), first.rend());
  const auto held = hold_back(samples).held.collectives;
  REQUIRE(held.size() == 4);
  CHECK(std::ranges::count(held, 4_KiB, &CollectiveRow::size) == 2);
}

TEST_CASE("the order of the rows does not change a fit", "[fit]") {
  auto samples = shipped_samples();
  const NodeFacts node{132, {{{Transport::p2p, 4}, 24}}};
  const auto one = fit(samples, {"x", ""}, node);
  std::ranges::reverse(samples.collectives);
  std::ranges::reverse(samples.contention);
  std::ranges::reverse(samples.copies);
  std::ranges::reverse(samples.patterns);
  std::ranges::reverse(samples.matrix);
  std::ranges::reverse(samples.memory);
  std::ranges::reverse(samples.optimizers);
  std::ranges::reverse(samples.attention);
  const auto other = fit(samples, {"x", ""}, node);
  CHECK(text_of(one) == text_of(other));
}

TEST_CASE("errors of withheld rows keep their signs", "[fit]") {
  const std::vector<PredictedRow> rows{{SampleGroup::copies, "a", 10_us, 11_us},
                                       {SampleGroup::copies, "b", 10_us, 8_us},
                                       {SampleGroup::copies, "c", 10_us, std::nullopt},
                                       {SampleGroup::products, "d", 10_us, 10_us}};
  const auto groups = errors_by_group(rows);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].rows == 2);
  CHECK(groups[0].bias == Approx(-0.05));
  CHECK(groups[0].mean == Approx(0.15));
  CHECK(groups[0].error.worst == Approx(0.2));
  CHECK(groups[1].error.worst == Approx(0).margin(1e-12));
}
