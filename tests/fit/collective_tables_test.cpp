// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/cost/collective_table.hpp"
#include "sim/fit/collective_tables.hpp"
#include "tests/support/samples.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

std::vector<CollectiveRow> rows_of(const std::vector<SizedTime>& samples) {
  std::vector<CollectiveRow> rows;
  for (const auto& [size, time] : samples) {
    rows.push_back({CollectiveKind::all_reduce, Transport::p2p, {}, {}, 4, size, time});
  }
  return rows;
}

CollectiveTable fitted(const std::vector<SizedTime>& samples) {
  const auto tables = fit_collectives(rows_of(samples));
  REQUIRE(tables.size() == 1);
  return tables[0];
}

}  // namespace

TEST_CASE("samples of latency and rate give both back, without residual or error between sizes", "[fit]") {
  const auto table = fitted(straight_line(11));

  CHECK(table.samples == 11);
  CHECK(table.points.size() == 11);
  CHECK(table.outliers.empty());
  CHECK(table.latency.value() == Approx(20e-6 + 1024 / 100e9));
  CHECK(table.bandwidth.value() == Approx(1073741824 / (20e-6 + 1073741824 / 100e9)));
  REQUIRE(table.residual);
  CHECK(table.residual->worst == Approx(0).margin(1e-12));
  CHECK_FALSE(table.residual_with_outliers);
  REQUIRE(table.interpolation);
  CHECK(table.interpolation->worst == Approx(0).margin(1e-12));  // straight over the size
}

TEST_CASE("one outlier anywhere is kept apart and changes the time of no other size", "[fit]") {
  const auto at = static_cast<std::size_t>(GENERATE(range(0, 11)));
  const auto good = straight_line(11);
  auto samples = good;
  samples[at].time = 5 * samples[at].time;
  CAPTURE(at);

  const auto table = fitted(samples);

  REQUIRE(table.outliers.size() == 1);
  CHECK(table.outliers[0].time == samples[at].time);
  for (std::size_t i = 0; i < good.size(); ++i) {
    const auto tolerance =
        i == at ? 0.2 : 1e-12;  // at its own size nothing is left; the ends have one neighbour
    if (i == at && (at == 0 || at == 10)) continue;
    CHECK(time_at(table, good[i].size) / good[i].time == Approx(1).margin(tolerance));
  }
  CHECK(table.residual->worst == Approx(0).margin(1e-12));
  CHECK(table.residual_with_outliers->worst > 0.5);
}

TEST_CASE("the error between sizes is that of each inner size from the others", "[fit]") {
  // Without 2 KiB the line gives 15 us, without 3 KiB 25 us.
  const auto table = fitted({{1_KiB, 10_us}, {2_KiB, 20_us}, {3_KiB, 20_us}, {4_KiB, 30_us}});
  REQUIRE(table.interpolation);
  CHECK(table.interpolation->worst == Approx(0.25));
  CHECK(table.interpolation->median == Approx(0.25));
  CHECK_FALSE(fitted({{1_KiB, 10_us}, {2_KiB, 20_us}}).interpolation);
}

TEST_CASE("what was forced, the ranks and the transport each have tables of their own", "[fit]") {
  auto rows = rows_of(straight_line(3));
  const auto add = [&rows](auto change) {
    auto row = rows.front();
    change(row);
    rows.push_back(row);
  };
  add([](CollectiveRow& row) { row.ranks = 2; });
  add([](CollectiveRow& row) { row.transport = Transport::shm; });
  add([](CollectiveRow& row) { row.kind = CollectiveKind::broadcast; });
  add([](CollectiveRow& row) {
    row.algorithm = Algorithm::ring;
    row.protocol = Protocol::ll;
  });
  CHECK(fit_collectives(rows).size() == 5);
}

TEST_CASE("the shipped samples have just these outliers", "[fit]") {
  std::vector<std::pair<double, double>> found;  // bytes and us
  for (const auto& table : fit_collectives(shipped_samples().collectives)) {
    for (const auto& outlier : table.outliers)
      found.emplace_back(outlier.size.value(), std::round(outlier.time.value() * 1e7) / 10);
  }
  const std::vector<std::pair<double, double>> expected{
      {4096, 98.1},    {16384, 102.0},   // all-reduce on 4
      {16384, 118.6},                    // ring LL
      {262144, 33.3},  {4194304, 92.5},  // ring LL128
      {4194304, 97.6},                   // reduce-scatter on 4
      {16384, 27.3},                     // all-to-all on 4
      {1024, 72.1},                      // TCP on 2
  };
  CHECK(found == expected);
}
