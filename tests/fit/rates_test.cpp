// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/fit/kernels.hpp"
#include "sim/fit/links.hpp"
#include "tests/support/samples.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

/// Copies of sizes from 4 KiB to 256 MiB by a latency and a bandwidth.
std::vector<CopyRow> copies(LinkRole role, Seconds latency, BytesPerSecond bandwidth) {
  std::vector<CopyRow> rows;
  for (auto size = 4_KiB; size <= 256_MiB; size = 4 * size)
    rows.push_back({role, size, latency + size / bandwidth});
  return rows;
}

}  // namespace

TEST_CASE("copies of latency and bandwidth give both back, whatever one disturbed copy says", "[fit]") {
  Samples samples;
  samples.copies = copies(LinkRole::to_gpu, 3_us, 50_GBps);
  const bool is_disturbed = GENERATE(false, true);
  if (is_disturbed) samples.copies[4].time = 3.0 * samples.copies[4].time;
  for (const auto& peer : copies(LinkRole::peer, 8_us, 400_GBps)) samples.copies.push_back(peer);

  const auto links = fit_links(samples);

  REQUIRE(links.size() == 2);
  CHECK(links[0].bandwidth.value() == Approx(50e9));
  CHECK(links[0].latency.value() == Approx(3e-6));
  CHECK(links[0].smallest == 4_KiB);
  CHECK(links[0].largest == 256_MiB);
  CHECK(links[0].least->value() == Approx(50e9));
  CHECK(links[0].most->value() == Approx(50e9));
  CHECK(links[0].fitted.samples == 9);
  CHECK(links[0].fitted.residual->median == Approx(0).margin(1e-9));
  CHECK(links[0].fitted.residual->worst == Approx(is_disturbed ? 2.0 / 3 : 0).margin(1e-9));
  CHECK(links[1].role == LinkRole::peer);
  CHECK(links[1].bandwidth.value() == Approx(400e9));
}

TEST_CASE("the shipped copies give the rates that the platform states", "[fit]") {
  const auto links = fit_links(shipped_samples());
  REQUIRE(links.size() == 6);
  CHECK(links[0].bandwidth.value() == Approx(55.5e9).epsilon(0.002));  // pinned, to the GPU
  CHECK(links[1].bandwidth.value() == Approx(55.4e9).epsilon(0.002));  // and back
  CHECK(links[2].bandwidth.value() == Approx(25.6e9).epsilon(0.002));  // pageable
  CHECK(links[3].bandwidth.value() == Approx(388.5e9).epsilon(0.02));  // NVLink
  CHECK(links[4].role == LinkRole::same_gpu);
  CHECK(links[5].role == LinkRole::host_memory);
  CHECK(links[5].gpus == 4);
  CHECK(ring_rate(links[5]).value() == Approx(26.21e9).epsilon(0.001));
}

TEST_CASE("kernels reach the medians of their classes", "[fit]") {
  Samples samples;
  const auto product = [&](Arithmetic arithmetic, double m, double n, double k, double tflops) {
    samples.matrix.push_back({arithmetic, m, n, k, Seconds{2 * m * n * k / tflops / 1e12}});
  };
  product(Arithmetic::fp32, 4096, 4096, 4096, 50);
  product(Arithmetic::fp32, 8192, 8192, 8192, 52);
  product(Arithmetic::fp32, 8192, 8192, 4096, 40);
  product(Arithmetic::fp32, 2048, 2048, 2048, 30);
  product(Arithmetic::fp32, 512, 512, 512, 20);
  product(Arithmetic::fp32, 16384, 16384, 255, 5);
  product(Arithmetic::fp8, 8192, 8192, 8192, 1500);
  samples.launches[static_cast<std::size_t>(LaunchCost::launch)] = {5_us, 6_us, 7_us};
  samples.launches[static_cast<std::size_t>(LaunchCost::sync)] = {3_us};
  samples.memory = {{MemoryKernel::copy_fp32, 512_KiB, 4_us}, {MemoryKernel::copy_fp32, 512_KiB, 5_us}};
  NodeFacts node;
  node.peak[0] = FlopsPerSecond{60e12};

  const auto rates = fit_kernels(samples, node);

  REQUIRE(rates.matrix.size() == 5);
  CHECK(rates.matrix[0].shape == ProductShape::small);
  CHECK(rates.matrix[0].rate.value() == Approx(20e12));
  CHECK(rates.matrix[1].shape == ProductShape::large);
  CHECK(rates.matrix[1].rate.value() == Approx(50e12));
  CHECK(*rates.matrix[1].of_peak == Approx(50.0 / 60));
  CHECK(rates.matrix[1].fitted.samples == 3);
  CHECK(rates.matrix[1].fitted.residual->worst == Approx(0.2));  // 40 predicted as 50
  CHECK(rates.matrix[2].shape == ProductShape::medium);
  CHECK(rates.matrix[3].shape == ProductShape::skinny);
  CHECK(rates.matrix[4].arithmetic == Arithmetic::fp8);
  CHECK_FALSE(rates.matrix[4].of_peak);  // no datasheet rate is known
  CHECK(*rates.smallest_kernel == 4_us);
  REQUIRE(rates.launches.size() == 2);
  CHECK(rates.launches[0].time == 6_us);
  CHECK(rates.launches[0].fitted.residual->worst == Approx(0.2));
  CHECK(rates.launches[1].what == LaunchCost::sync);
  CHECK(fit_kernels(Samples{}, {}).empty());
}

TEST_CASE("memory-bound kernels, attention and optimizers give back the laws they were made by", "[fit]") {
  Samples samples;
  for (auto traffic = 1_MiB; traffic <= 4_GiB; traffic = 4 * traffic) {
    samples.memory.push_back({MemoryKernel::add_fp32, traffic, 2_us + traffic / 4000_GBps});
    samples.memory.push_back({MemoryKernel::cast_bf16_fp32, traffic, 3_us + traffic / 2000_GBps});
  }
  for (double length = 128; length <= 8192; length *= 2) {
    AttentionRow row{Arithmetic::bf16, 8, 16, length, 64, false, {}};
    row.time = 10_us + row.work() / FlopsPerSecond{400e12};
    samples.attention.push_back(row);
  }
  for (const double millions : {1, 3, 10, 30, 100, 300}) {
    OptimizerRow row{Optimizer::sgd, millions * 1e6, 300, {}};
    row.time = std::max(300_us, row.traffic() / 3000_GBps);
    samples.optimizers.push_back(row);
  }

  const auto rates = fit_kernels(samples, {});

  REQUIRE(rates.memory.size() == 2);
  CHECK(rates.memory[0].latency.value() == Approx(2e-6));
  CHECK(rates.memory[0].bandwidth.value() == Approx(4e12));
  CHECK(rates.memory[1].bandwidth.value() == Approx(2e12));
  REQUIRE(rates.attention.size() == 1);
  CHECK(rates.attention[0].latency.value() == Approx(10e-6));
  CHECK(rates.attention[0].rate.value() == Approx(400e12));
  REQUIRE(rates.optimizers.size() == 1);
  CHECK(rates.optimizers[0].floor.value() == Approx(300e-6));
  CHECK(rates.optimizers[0].bandwidth.value() == Approx(3e12));
  CHECK(rates.optimizers[0].fitted.residual->worst == Approx(0).margin(1e-9));
}
