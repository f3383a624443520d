// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/cost/contention.hpp"

using namespace gradway;

namespace {

Footprint product(std::int64_t blocks, int per_sm) {
  return {KernelClass::matrix, Precision::fp32, blocks, per_sm};
}

ContentionFactors row(Transport transport, Precision precision, int ranks) {
  return {.transport = transport, .precision = precision, .ranks = ranks, .measured_on = "", .source = ""};
}

}  // namespace

TEST_CASE("a kernel needs more waves while a collective occupies multiprocessors") {
  // Products of our trace of vit_l_32 in DDP on 4 H200 during collectives of 24 channels:
  // slow-downs 2.12, 1.29, 1.17.
  CHECK(wave_slowdown(product(112, 1), 132, 24) == 2);
  CHECK(wave_slowdown(product(728, 2), 132, 24) == Approx(4.0 / 3));
  CHECK(wave_slowdown(product(3200, 4), 132, 24) == Approx(8.0 / 7));
  CHECK(wave_slowdown(product(100, 1), 132, 24) == 1);
}

// Two H100, 2026-11-25, PyTorch 2.11, during all-reduces of 512 MiB over host memory (4 channels) and NVLink
// (24): medians of kernels that ran completely during one. cuBLAS' nvjet kernels by the tiles of their
// results.
TEST_CASE("the tiles of a persistent product are spread over the free pairs of multiprocessors") {
  struct Measured {
    std::int64_t tiles;
    double four, twenty_four;
  };
  const auto of_tiles = [](std::int64_t tiles, int channels) {
    return wave_slowdown({KernelClass::matrix, Precision::bf16, 132, 1, tiles}, 132, channels);
  };
  for (const auto& [tiles, four, twenty_four] : {Measured{256, 1.49, 1.93},
                                                 {258, 1.49, 2.03},
                                                 {384, 1.36, 1.65},
                                                 {512, 1.25, 1.75},
                                                 {2752, 1.12, 1.33}}) {
    CAPTURE(tiles);
    CHECK(of_tiles(tiles, 4) == Approx(four).epsilon(0.05));
    CHECK(of_tiles(tiles, 24) == Approx(twenty_four).epsilon(0.19));
  }
  // Without a scheduler, blocks that do not fit run in another wave: cuDNN's convolutions, slow-down 1.9
  // to 2.2.
  CHECK(wave_slowdown({KernelClass::matrix, Precision::bf16, 132, 1}, 132, 4) == 2);
}

TEST_CASE("persistent fused attention slows down smoothly with the multiprocessors it loses") {
  const Footprint attention{KernelClass::attention, Precision::bf16, 132, 1, 2048};
  CHECK(wave_slowdown(attention, 132, 4) == Approx(1.045).epsilon(0.02));  // cuDNN's, 1.03 to 1.05
  CHECK(wave_slowdown(attention, 132, 24) == Approx(1.28).epsilon(0.06));  // 1.24 to 1.33
  CHECK(blocks_collective(attention, 132, 4));
}

TEST_CASE("memory-bound kernels and kernels of unknown blocks slow down smoothly") {
  CHECK(wave_slowdown(product(0, 0), 132, 24) == Approx(132.0 / 108));
  CHECK(wave_slowdown({KernelClass::memory, Precision::fp32, 112, 1}, 132, 24) == Approx(132.0 / 108));
  CHECK(wave_slowdown(product(1000000, 2), 132, 24) == Approx(132.0 / 108).epsilon(1e-3));
  CHECK(wave_slowdown(product(112, 1), 0, 24) == 1);
  CHECK(wave_slowdown(product(112, 1), 132, 0) == 1);
}

TEST_CASE("a kernel blocks collectives if it leaves too few multiprocessors free") {
  CHECK(blocks_collective(product(128, 2), 132, 24));
  CHECK_FALSE(blocks_collective(product(108, 2), 132, 24));
  CHECK_FALSE(blocks_collective(product(128, 1), 132, 4));
  CHECK_FALSE(blocks_collective(product(0, 0), 132, 24));
}

TEST_CASE("the contention measurement of the same transport, class and nearest number of ranks is used") {
  const std::vector<ContentionFactors> rows{
      row(Transport::p2p, Precision::fp32, 2), row(Transport::p2p, Precision::fp32, 4),
      row(Transport::p2p, Precision::bf16, 4), row(Transport::shm, Precision::bf16, 4)};
  const auto best = [&](Transport transport, int ranks, const Footprint& kernel) {
    return measured_contention(rows, transport, ranks, kernel, 24);
  };
  CHECK(best(Transport::p2p, 2, product(1, 1)) == &rows[0]);
  CHECK(best(Transport::p2p, 3, product(1, 1)) == &rows[1]);
  CHECK(best(Transport::p2p, 2, {KernelClass::memory, Precision::fp32, 1, 1}) == &rows[2]);
  CHECK(best(Transport::p2p, 8, {KernelClass::matrix, Precision::bf16, 1, 1}) == &rows[2]);
  CHECK(best(Transport::shm, 4, product(1, 1)) == &rows[3]);  // another precision is used
  CHECK(best(Transport::net, 4, product(1, 1)) == nullptr);
}

TEST_CASE("the contention measurement with the nearest number of channels is used") {
  std::vector<ContentionFactors> rows(4, row(Transport::p2p, Precision::fp32, 4));
  rows[0].channels = 0;
  rows[1].channels = 8;
  rows[2].channels = 24;
  rows[3].ranks = 8;
  rows[3].channels = 16;
  const auto best = [&](int ranks, int channels) {
    return measured_contention(rows, Transport::p2p, ranks, product(1, 1), channels);
  };
  CHECK(best(4, 24) == &rows[2]);
  CHECK(best(4, 15) == &rows[1]);
  CHECK(best(4, 16) == &rows[1]);  // of two equally near, the smaller
  CHECK(best(4, 1) == &rows[1]);   // unknown channels come last
  CHECK(best(8, 24) == &rows[3]);  // ranks take precedence over channels
  rows.resize(1);
  CHECK(best(4, 24) == &rows[0]);
}
