// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/cost/side_by_side.hpp"

using namespace gradway;

namespace {

Footprint product(std::int64_t blocks, int per_sm) {
  return {KernelClass::matrix, Precision::fp32, blocks, per_sm};
}

SideBySide row(Transport transport, Precision precision, int ranks) {
  return {.transport = transport, .precision = precision, .ranks = ranks, .measured_on = "", .source = ""};
}

}  // namespace

TEST_CASE("beside a collective a kernel runs in the waves that the multiprocessors left to it allow") {
  // Products of our trace of vit_l_32 in DDP on 4 H200 beside 24 channels: 2.12, 1.29 and 1.17 times longer.
  CHECK(wave_slowdown(product(112, 1), 132, 24) == 2);
  CHECK(wave_slowdown(product(728, 2), 132, 24) == Approx(4.0 / 3));
  CHECK(wave_slowdown(product(3200, 4), 132, 24) == Approx(8.0 / 7));
  CHECK(wave_slowdown(product(100, 1), 132, 24) == 1);
}

TEST_CASE("kernels of unknown blocks, and those that the memory bounds, take the smooth form") {
  CHECK(wave_slowdown(product(0, 0), 132, 24) == Approx(132.0 / 108));
  CHECK(wave_slowdown({KernelClass::memory, Precision::fp32, 112, 1}, 132, 24) == Approx(132.0 / 108));
  CHECK(wave_slowdown(product(1000000, 2), 132, 24) == Approx(132.0 / 108).epsilon(1e-3));
  CHECK(wave_slowdown(product(112, 1), 0, 24) == 1);
  CHECK(wave_slowdown(product(112, 1), 132, 0) == 1);
}

TEST_CASE("a kernel holds collectives back if it leaves too few multiprocessors free") {
  CHECK(holds_back(product(128, 2), 132, 24));
  CHECK_FALSE(holds_back(product(108, 2), 132, 24));
  CHECK_FALSE(holds_back(product(128, 1), 132, 4));
  CHECK_FALSE(holds_back(product(0, 0), 132, 24));
}

TEST_CASE("the measurement of the transport, of the kernel's class and of the nearest ranks is taken") {
  const std::vector<SideBySide> rows{
      row(Transport::p2p, Precision::fp32, 2), row(Transport::p2p, Precision::fp32, 4),
      row(Transport::p2p, Precision::bf16, 4), row(Transport::shm, Precision::bf16, 4)};
  const auto best = [&](Transport transport, int ranks, const Footprint& kernel) {
    return measured_beside(rows, transport, ranks, kernel, 24);
  };
  CHECK(best(Transport::p2p, 2, product(1, 1)) == &rows[0]);
  CHECK(best(Transport::p2p, 3, product(1, 1)) == &rows[1]);
  CHECK(best(Transport::p2p, 2, {KernelClass::memory, Precision::fp32, 1, 1}) == &rows[2]);
  CHECK(best(Transport::p2p, 8, {KernelClass::matrix, Precision::bf16, 1, 1}) == &rows[2]);
  CHECK(best(Transport::shm, 4, product(1, 1)) == &rows[3]);  // another precision stands in
  CHECK(best(Transport::net, 4, product(1, 1)) == nullptr);
}

TEST_CASE("of measurements that differ in channels the one nearest to the collective's is taken") {
  std::vector<SideBySide> rows(4, row(Transport::p2p, Precision::fp32, 4));
  rows[0].channels = 0;
  rows[1].channels = 8;
  rows[2].channels = 24;
  rows[3].ranks = 8;
  rows[3].channels = 16;
  const auto best = [&](int ranks, int channels) {
    return measured_beside(rows, Transport::p2p, ranks, product(1, 1), channels);
  };
  CHECK(best(4, 24) == &rows[2]);
  CHECK(best(4, 15) == &rows[1]);
  CHECK(best(4, 16) == &rows[1]);  // of two that are as near the smaller
  CHECK(best(4, 1) == &rows[1]);   // one without channels says nothing of them
  CHECK(best(8, 24) == &rows[3]);  // the ranks count more
  rows.resize(1);
  CHECK(best(4, 24) == &rows[0]);
}
