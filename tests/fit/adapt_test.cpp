// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "readers/fit/adapt.hpp"
#include "readers/fit/scales.hpp"
#include "sim/base/random.hpp"
#include "sim/cost/collective_table.hpp"
#include "sim/trust/step_range.hpp"
#include "tests/support/samples.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

CollectiveTable table_of(Transport transport, int ranks, std::vector<SizedTime> points) {
  CollectiveTable table;
  table.transport = transport;
  table.ranks = ranks;
  table.latency = points.front().time;
  table.bandwidth = points.back().size / points.back().time;
  table.points = std::move(points);
  return table;
}

/// All-reduces over TCP of 2 and 4 ranks, 20 us and 100 GB/s.
Calibration two_tables() {
  Calibration calibration;
  calibration.name = "theirs";
  for (const int ranks : {2, 4})
    calibration.tables.push_back(table_of(Transport::net, ranks, straight_line(9)));
  return calibration;
}

/// Samples of a machine whose latencies and times per byte are scaled by these factors.
Samples samples_of(const Calibration& calibration, double fixed, double moving) {
  Samples samples;
  for (const auto& table : calibration.tables) {
    for (const auto& point : table.points) {
      const auto time = Scales{fixed, moving}.of(split_time(table, point.size));
      samples.collectives.push_back({table.kind, table.transport, table.algorithm, table.protocol,
                                     table.ranks, point.size, time, table.nodes});
    }
  }
  return samples;
}

const AdaptedPart& part(const Calibration& calibration, const std::string& what) {
  const auto& parts = calibration.adapted.value().parts;
  const auto found = std::ranges::find(parts, what, &AdaptedPart::what);
  REQUIRE(found != parts.end());
  return *found;
}

std::string refusal(const Calibration& calibration, const Samples& samples) {
  try {
    adapt(calibration, samples, {"", ""});
  } catch (const ConfigError& error) {
    return error.problems().front().what;
  }
  return "";
}

}  // namespace

TEST_CASE("adapting to the times of the calibration changes none of them", "[fit]") {
  const auto calibration = fit(shipped_samples(), {"test", ""}, {});
  auto samples = samples_of(calibration, 1, 1);
  for (const auto& link : calibration.links) {
    if (link.gpus > 1) continue;
    samples.copies.push_back({link.role, 1_MiB, link.latency + 1_MiB / link.bandwidth});
    samples.copies.push_back({link.role, 64_MiB, link.latency + 64_MiB / link.bandwidth});
  }
  const auto adapted = adapt(calibration, samples, {"test", ""});
  CHECK(adapted.left_out == 0);
  REQUIRE(adapted.calibration.tables.size() == calibration.tables.size());
  for (std::size_t i = 0; i < calibration.tables.size(); ++i) {
    const auto& before = calibration.tables[i];
    const auto& after = adapted.calibration.tables[i];
    for (std::size_t j = 0; j < before.points.size(); ++j)
      CHECK(after.points[j].time.value() == Approx(before.points[j].time.value()).epsilon(1e-12));
    CHECK(after.uncertainty.value_or(0) == Approx(0).margin(1e-12));
  }
  for (std::size_t i = 0; i < calibration.links.size(); ++i)
    CHECK(adapted.calibration.links[i].bandwidth == calibration.links[i].bandwidth);
}

TEST_CASE("a machine with known factors of latency and bandwidth gets these factors", "[fit]") {
  const auto calibration = two_tables();
  const auto adapted =
      adapt(calibration, samples_of(calibration, 1.25, 0.8), {"mine", "2026-11-24"}).calibration;
  CHECK(adapted.adapted->from == "theirs");
  CHECK(adapted.source == "mine");
  for (const auto* what : {"NET on 2 ranks", "NET on 4 ranks"}) {
    CHECK(part(adapted, what).rows == 9);
    CHECK(part(adapted, what).fixed == Approx(1.25));
    CHECK(part(adapted, what).moving == Approx(0.8));
    CHECK(part(adapted, what).after->worst == Approx(0).margin(1e-9));
  }
  // 20 us and 100 GB/s became 25 us and 125 GB/s.
  for (const auto& point : adapted.tables[1].points)
    CHECK(point.time.value() == Approx(25e-6 + point.size.value() / 125e9).epsilon(1e-3));
  CHECK(adapted.tables[1].uncertainty.value() == Approx(0).margin(1e-9));
}

TEST_CASE("disturbed rows do not change the scales", "[fit]") {
  const auto calibration = two_tables();
  auto samples = samples_of(calibration, 1.1, 1.2);
  samples.collectives[3].time = 3 * samples.collectives[3].time;
  samples.collectives[8].time = 2 * samples.collectives[8].time;
  const auto adapted = adapt(calibration, samples, {"", ""}).calibration;
  CHECK(part(adapted, "NET on 2 ranks").fixed == Approx(1.1));
  CHECK(part(adapted, "NET on 2 ranks").moving == Approx(1.2));
  CHECK(part(adapted, "NET on 2 ranks").after->worst > 1);
}

TEST_CASE("parts without rows keep their scale, other ranks follow their transport, other transports do not",
          "[fit]") {
  auto calibration = two_tables();
  calibration.tables.push_back(table_of(Transport::p2p, 4, straight_line(9)));
  auto samples = samples_of(two_tables(), 1.5, 1.5);
  // Only 4, 16 and 64 MiB on 4 ranks, whose times are almost entirely bytes: only bytes are scaled.
  std::erase_if(samples.collectives, [](const auto& row) { return row.ranks == 2 || row.size < 4_MiB; });
  const auto adapted = adapt(calibration, samples, {"", ""}).calibration;
  CHECK(part(adapted, "NET on 4 ranks").fixed == 1);
  CHECK(part(adapted, "NET on 4 ranks").moving == Approx(1.5 + 0.5 * 20e-6 * 100e9 / 16777216).epsilon(1e-3));
  CHECK_FALSE(part(adapted, "NET on 4 ranks").uncertainty);  // three rows give no bound of 90 %
  CHECK(part(adapted, "NET on 2 ranks").rows == 0);
  CHECK(part(adapted, "NET on 2 ranks").moving == part(adapted, "NET on 4 ranks").moving);
  CHECK(adapted.adapted->parts.size() == 2);
  CHECK(adapted.tables[2].points.back().time == calibration.tables[2].points.back().time);
}

TEST_CASE("over SHM the rate of host memory does not limit sizes that caches serve", "[fit]") {
  // 30 GB/s up to 16 MiB, 15 beyond.
  std::vector<SizedTime> points;
  for (auto size = 64_KiB; size <= 256_MiB; size = 4 * size)
    points.push_back({size, 10_us + size / (size > 16_MiB ? 15_GBps : 30_GBps)});
  const auto table = table_of(Transport::shm, 4, points);
  CHECK(split_time(table, 16_MiB).moving == Seconds{});
  CHECK(split_time(table, 64_MiB).moving / time_at(table, 64_MiB) > 0.99);
  // Over TCP the same times are bytes at their rate, up to the whole time.
  auto tcp = table;
  tcp.transport = Transport::net;
  CHECK(split_time(tcp, 16_MiB).moving / time_at(tcp, 16_MiB) > 0.9);
}

TEST_CASE("90 % of rows are within the bound of nine or more others, and fewer give no bound", "[fit]") {
  CHECK_FALSE(bound_of_90_percent(std::vector<double>(8, 0.1)));
  CHECK(bound_of_90_percent({1, 2, 3, 4, 5, 6, 7, 8, 9}).value() == 9);
  Random random{7, RandomStream::failures};
  for (const std::size_t rows : {9U, 20U, 60U}) {
    int within = 0;
    constexpr int draws = 4000;
    for (int i = 0; i < draws; ++i) {
      std::vector<double> errors(rows);
      for (auto& error : errors) error = random.uniform();
      within += random.uniform() <= bound_of_90_percent(errors).value() ? 1 : 0;
    }
    CAPTURE(rows);
    CHECK(within >= 0.88 * draws);
    CHECK(within <= 0.95 * draws);
  }
}

TEST_CASE("the uncertainty of an adapted calibration is that of its rows", "[fit]") {
  CHECK(uncertainty_of_collectives(Basis::measured, Transport::shm, 0.04) == Approx(0.04));
  CHECK(uncertainty_of_collectives(Basis::stretched, Transport::shm, 0.04) == Approx(0.04));
  CHECK(uncertainty_of_collectives(Basis::measured, Transport::net, 0.2) == Approx(0.2));
  // Over NVLink the errors of interpolated numbers of ranks exceed those of measured ones.
  CHECK(uncertainty_of_collectives(Basis::stretched, Transport::p2p, 0.02) ==
        Approx(std::sqrt(0.02 * 0.02 + 0.15 * 0.15 - 0.03 * 0.03)));
  CHECK(uncertainty_of_collectives(Basis::nominal, Transport::shm, 0.04) ==
        uncertainty_of_collectives(Basis::nominal, Transport::shm));
}

TEST_CASE("samples of another kind of machine are refused", "[fit]") {
  const auto calibration = two_tables();
  CHECK(refusal(calibration, samples_of(calibration, 1, 5)) ==
        "NET on 2 ranks: the rows take 5 times as long as in calibration 'theirs'");
  CHECK(refusal(calibration, samples_of(calibration, 0.2, 1)) ==
        "NET on 2 ranks: the rows take 0.2 times as long as in calibration 'theirs'");
  CHECK(refusal(calibration, {}) ==
        "the samples contain no row for a table or a link of calibration 'theirs'");
  auto elsewhere = samples_of(calibration, 1, 1);
  for (auto& row : elsewhere.collectives) row.ranks = 8;
  CHECK(refusal(calibration, elsewhere) ==
        "the samples contain no row for a table or a link of calibration 'theirs'");
  auto single = calibration;
  single.collectives.emplace_back();
  CHECK(refusal(single, samples_of(calibration, 1, 1)) ==
        "calibration 'theirs' has single collectives instead of tables by size, which cannot be scaled");
  Calibration empty;
  empty.name = "none";
  CHECK(refusal(empty, samples_of(calibration, 1, 1)) ==
        "calibration 'none' has neither tables nor links to scale");
}
