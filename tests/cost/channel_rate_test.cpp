// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <vector>

#include "sim/cost/channel_rate.hpp"
#include "sim/cost/nccl_model.hpp"

using namespace gradway;

namespace {

struct Row {
  int channels;
  double at_64_MiB;  // GB/s of bus bandwidth
  double at_256_MiB;
};

/// Own measurement, 2026-11-22: all-reduces on two H200, PyTorch 2.11, NCCL 2.28.9, with these values
/// of NCCL_MAX_NCHANNELS (NCCL_MIN_NCHANNELS beyond the last); medians of five means of six calls.
struct Table {
  bool nvlink;
  Algorithm algorithm;
  Protocol protocol;
  int all;  // NCCL's own number of channels
  double together_64;
  double together_256;
  std::vector<Row> rows;
};

const std::vector<Table> tables{
    {true,
     Algorithm::ring,
     Protocol::simple,
     24,
     258.13,
     296.92,
     {{1, 20.83, 20.91}, {2, 41.38, 41.68}, {4, 81.16, 82.29}, {8, 152.48, 156.41}, {16, 236.00, 254.96}}},
    {true,
     Algorithm::tree,
     Protocol::simple,
     24,
     265.31,
     305.88,
     {{1, 18.32, 18.49}, {2, 36.09, 36.68}, {4, 69.46, 71.87}, {8, 127.30, 138.46}, {16, 223.07, 261.03}}},
    {true,
     Algorithm::ring,
     Protocol::ll128,
     24,
     243.93,
     283.49,
     {{1, 16.06, 16.13}, {2, 31.72, 31.99}, {4, 62.33, 63.18}, {8, 121.22, 124.95}, {16, 203.61, 229.04}}},
    {true,
     Algorithm::ring,
     Protocol::ll,
     24,
     121.36,
     123.30,
     {{1, 5.32, 5.33}, {2, 10.53, 10.54}, {4, 20.85, 20.97}, {8, 41.74, 41.89}, {16, 82.23, 82.97}}},
    {false,
     Algorithm::ring,
     Protocol::simple,
     4,
     27.71,
     28.10,
     {{1, 14.07, 14.13}, {2, 21.51, 21.61}, {16, 30.32, 31.25}}},
    {false, Algorithm::ring, Protocol::ll, 4, 8.75, 8.72, {{1, 2.40, 2.41}, {2, 4.63, 4.70}}}};

}  // namespace

TEST_CASE("rates of fewer and more channels match measurements on two H200") {
  for (const auto& table : tables) {
    const auto each = channel_rate(table.nvlink, table.algorithm, table.protocol);
    for (const auto& row : table.rows) {
      const auto predicted = [&](double together) {
        return together * share_of_channels(row.channels, table.all, BytesPerSecond{together * 1e9}, each);
      };
      CAPTURE(table.nvlink, name_of(table.algorithm), name_of(table.protocol), row.channels);
      CHECK(predicted(table.together_64) == Approx(row.at_64_MiB).epsilon(0.1));
      CHECK(predicted(table.together_256) == Approx(row.at_256_MiB).epsilon(0.1));
    }
  }
}

TEST_CASE("all channels reach the full rate, and more channels gain nothing") {
  const auto each = channel_rate(true, Algorithm::ring, Protocol::simple);
  CHECK(share_of_channels(24, 24, 300_GBps, each) == Approx(1));
  double before = 0;
  for (int channels = 1; channels <= 64; channels *= 2) {
    const auto share = share_of_channels(channels, 24, 300_GBps, each);
    CHECK(share > before);
    CHECK(share * 300e9 <= channels * each.value());
    before = share;
  }
  // If the rate exceeds what 24 channels should reach, only channels limit it: fewer are proportional, more
  // gain nothing.
  CHECK(share_of_channels(6, 24, 600_GBps, each) == Approx(0.25));
  CHECK(share_of_channels(48, 24, 600_GBps, each) == Approx(1));
}
