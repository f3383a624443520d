// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/cost/collective_table.hpp"

using namespace gradway;

namespace {

constexpr auto all_reduce = CollectiveKind::all_reduce;

/// Latency and bus bandwidth, from 1 KiB to 1 GiB.
CollectiveTable table_of(int ranks, Seconds latency, BytesPerSecond bus, CollectiveKind kind = all_reduce) {
  CollectiveTable table;
  table.transport = Transport::p2p;
  table.kind = kind;
  table.ranks = ranks;
  table.latency = latency;
  const auto factor = bus_factor(kind, ranks);
  for (auto size = 1_KiB; size <= 1_GiB; size = 4 * size)
    table.points.push_back({size, latency + factor * size / bus});
  return table;
}

CollectiveTable as(CollectiveTable table, Algorithm algorithm, Protocol protocol) {
  table.algorithm = algorithm;
  table.protocol = protocol;
  return table;
}

CommunicatorFacts nvlink(int ranks) {
  return {.ranks = ranks,
          .nvlink = true,
          .compute_capability = 90,
          .node_bandwidth = 370_GBps,
          .net_bandwidth = {}};
}

std::optional<TableTime> look_up(const std::vector<CollectiveTable>& tables, int ranks, Bytes size,
                                 const NcclSettings& settings = {}, CollectiveKind kind = all_reduce) {
  static Calibration calibration;  // must outlive the result
  calibration = {};
  calibration.tables = tables;
  const CollectiveTables all{calibration, Transport::p2p, nvlink(ranks), settings};
  return all.time(kind, size, *choose_plan(kind, size, nvlink(ranks), settings));
}

NcclSettings forced_settings(const char* algorithm, const char* protocol) {
  NcclSettings settings;
  settings.algo = algorithm;
  settings.proto = protocol;
  return settings;
}

}  // namespace

TEST_CASE("a table interpolates linearly between its points and extrapolates at both ends", "[cost]") {
  CollectiveTable table;
  table.points = {{1_KiB, 10_us}, {3_KiB, 10_us}, {5_KiB, 30_us}};
  CHECK(time_at(table, 1_KiB) == 10_us);
  CHECK(time_at(table, 3_KiB) == 10_us);
  CHECK(time_at(table, 5_KiB) == 30_us);
  CHECK(time_at(table, 2_KiB).value() == Approx(10e-6));
  CHECK(time_at(table, 4_KiB).value() == Approx(20e-6));
  CHECK(time_at(table, 1_B) == 10_us);                     // the smallest size's time
  CHECK(time_at(table, 10_KiB).value() == Approx(60e-6));  // the largest size's bandwidth
}

TEST_CASE("the time of a table never decreases with the size", "[cost]") {
  const std::vector<CollectiveTable> tables{table_of(2, 10_us, 300_GBps), table_of(4, 12_us, 340_GBps)};
  for (const int ranks : {2, 3, 4, 8}) {
    Seconds before{};
    for (auto size = 1_B; size < 4_GiB; size = 1.3 * size) {
      const auto time = look_up(tables, ranks, size)->time;
      CHECK(time >= before * (1 - 1e-12));
      before = time;
    }
  }
}

TEST_CASE("a measured number of ranks has the time of its table without remarks", "[cost]") {
  const auto found = look_up({table_of(2, 10_us, 300_GBps), table_of(4, 20_us, 340_GBps)}, 4, 16_MiB);
  REQUIRE(found);
  CHECK(found->time.value() == Approx(20e-6 + 1.5 * 16 * 1048576 / 340e9));
  CHECK(found->use.table->ranks == 4);
  CHECK(found->use == TableUse{.table = found->use.table});
}

TEST_CASE("latency and bus bandwidth are interpolated linearly between numbers of ranks", "[cost]") {
  const std::vector<CollectiveTable> tables{table_of(6, 30_us, 360_GBps), table_of(2, 10_us, 300_GBps)};
  const auto found = look_up(tables, 3, 1_GiB);
  REQUIRE(found);
  // 3 ranks are a quarter of the way from 2 to 6: 15 us and 315 GB/s; 2(n-1)/n = 4/3
  CHECK(found->time.value() == Approx(15e-6 + 4.0 / 3 * 1073741824 / 315e9));
  CHECK(found->use.table->ranks == 2);
  CHECK(found->use.upper->ranks == 6);
  CHECK_FALSE(found->use.other_ranks);
  CHECK(look_up(tables, 3, 1_B)->time.value() == Approx(15e-6).epsilon(1e-3));
}

TEST_CASE("beyond the measured numbers of ranks, bus bandwidth is constant and further steps add latency",
          "[cost]") {
  const std::vector<CollectiveTable> tables{table_of(4, 30_us, 300_GBps)};
  const auto more = look_up(tables, 8, 1_GiB);
  REQUIRE(more);
  CHECK(more->use.other_ranks);
  // NCCL runs 1 GiB as ring Simple over NVLink: 8 more hops of 3.4 us
  CHECK(more->time.value() == Approx(30e-6 + 8 * 3.4e-6 + 1.75 * 1073741824 / 300e9));
  const auto fewer = look_up(tables, 2, 1_GiB);
  CHECK(fewer->use.other_ranks);
  CHECK(fewer->time.value() == Approx(30e-6 + 1.0 * 1073741824 / 300e9));  // the latency does not decrease
}

TEST_CASE("a lookup beyond the largest size is marked", "[cost]") {
  const std::vector<CollectiveTable> tables{table_of(2, 10_us, 300_GBps), table_of(4, 10_us, 300_GBps)};
  CHECK_FALSE(look_up(tables, 4, 1_GiB)->use.beyond_sizes);
  const auto found = look_up(tables, 4, 2_GiB);
  CHECK(found->use.beyond_sizes);
  CHECK(found->time.value() == Approx(2 * (10e-6 + 1.5 * 1073741824 / 300e9)));
  CHECK(look_up(tables, 3, 2_GiB)->use.beyond_sizes);
}

TEST_CASE("a forced algorithm and protocol have their own table if they were measured", "[cost]") {
  const std::vector<CollectiveTable> tables{table_of(4, 10_us, 300_GBps),
                                            as(table_of(4, 5_us, 100_GBps), Algorithm::tree, Protocol::ll)};
  const auto own = look_up(tables, 4, 1_MiB, forced_settings("TREE", "LL"));
  REQUIRE(own);
  CHECK(own->time.value() == Approx(5e-6 + 1.5 * 1048576 / 100e9));
  CHECK_FALSE(own->use.other_plan);
  CHECK(look_up(tables, 4, 1_MiB)->time.value() == Approx(10e-6 + 1.5 * 1048576 / 300e9));
}

TEST_CASE("forcing NCCL's own choice has no effect", "[cost]") {
  const auto forced = as(table_of(4, 5_us, 100_GBps), Algorithm::ring, Protocol::simple);
  const auto found =
      look_up({table_of(2, 10_us, 300_GBps), forced}, 2, 1_GiB, forced_settings("RING", "SIMPLE"));
  REQUIRE(found);
  CHECK(found->time.value() == Approx(10e-6 + 1073741824 / 300e9));
  CHECK_FALSE(found->use.other_ranks);
  CHECK_FALSE(found->use.other_plan);
  const std::vector<CollectiveTable> both{table_of(4, 10_us, 300_GBps), forced};
  CHECK(look_up(both, 4, 1_GiB, forced_settings("RING", "SIMPLE"))->time == look_up(both, 4, 1_GiB)->time);
}

TEST_CASE("forced plans without measurements are scaled by NCCL's own estimates", "[cost]") {
  const auto size = 1_MiB;
  const auto settings = forced_settings("TREE", "SIMPLE");
  const auto found = look_up({table_of(4, 10_us, 300_GBps)}, 4, size, settings);
  REQUIRE(found);
  CHECK(found->use.other_plan);
  const auto forced = choose_plan(all_reduce, size, nvlink(4), settings)->estimate(size);
  const auto chosen = choose_plan(all_reduce, size, nvlink(4), {})->estimate(size);
  CHECK(found->time.value() == Approx((10e-6 + 1.5 * 1048576 / 300e9) * (forced / chosen)));
  CHECK(forced > chosen);
}

TEST_CASE("fewer channels are slower, as measured on two H200", "[cost]") {
  NcclSettings settings;
  settings.max_channels = 4;
  const auto found = look_up({table_of(4, 10_us, 300_GBps)}, 4, 1_GiB, settings);
  CHECK(found->use.other_channels);
  CHECK_FALSE(found->use.other_plan);
  // Four channels of ring Simple over NVLink: 82.3 GB/s.
  CHECK(found->time.value() == Approx(1.5 * 1073741824 / 82.3e9).epsilon(0.02));
}

TEST_CASE("an operation without tables uses those of all-reduce, scaled by bus factors", "[cost]") {
  const std::vector<CollectiveTable> tables{table_of(4, 10_us, 300_GBps)};
  const auto found = look_up(tables, 4, 1_GiB, {}, CollectiveKind::all_gather);
  REQUIRE(found);
  CHECK(found->use.other_operation);
  CHECK(found->time.value() == Approx(10e-6 + 0.75 * 1073741824 / 300e9));
  const auto own = look_up({tables[0], table_of(4, 8_us, 350_GBps, CollectiveKind::all_gather)}, 4, 1_GiB, {},
                           CollectiveKind::all_gather);
  CHECK_FALSE(own->use.other_operation);
  CHECK(own->time.value() == Approx(8e-6 + 0.75 * 1073741824 / 350e9));
}

TEST_CASE("tables of other transports are ignored", "[cost]") {
  auto table = table_of(4, 10_us, 300_GBps);
  table.transport = Transport::shm;
  CHECK_FALSE(look_up({table}, 4, 1_MiB));
  CHECK_FALSE(look_up({}, 4, 1_MiB));
  CHECK_FALSE(look_up({as(table_of(4, 10_us, 300_GBps), Algorithm::tree, Protocol::ll)}, 4, 1_GiB));
}

TEST_CASE("tables between nodes are used within a node only if there are no others, and vice versa",
          "[cost]") {
  auto between = table_of(4, 50_us, 20_GBps);
  between.nodes = 2;
  const auto within = table_of(4, 10_us, 300_GBps);
  CHECK(look_up({between, within}, 4, 1_MiB)->time == time_at(within, 1_MiB));
  CHECK(look_up({between}, 4, 1_MiB)->time == time_at(between, 1_MiB));  // only table
  Calibration calibration;
  calibration.tables = {within, between};
  auto communicator = nvlink(4);
  communicator.nodes = 2;
  const CollectiveTables tables{calibration, Transport::p2p, communicator, {}};
  const auto plan = *choose_plan(all_reduce, 1_MiB, communicator, {});
  CHECK(tables.time(all_reduce, 1_MiB, plan)->time == time_at(between, 1_MiB));
}
