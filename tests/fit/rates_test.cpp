// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/fit/kernels.hpp"
#include "sim/fit/links.hpp"
#include "tests/fit/samples.hpp"

using namespace gradway;
using namespace gradway::test;

TEST_CASE("a link has the rate of its largest copy and the time of its smallest", "[fit]") {
  Samples samples;
  samples.copies = {{LinkRole::to_gpu, 100_MB, 2_ms},
                    {LinkRole::to_gpu, 4_KiB, 3_us},
                    {LinkRole::to_gpu, 1_MB, 30_us},
                    {LinkRole::peer, 1_MB, 10_us}};
  const auto links = fit_links(samples);
  REQUIRE(links.size() == 2);
  CHECK(links[0].bandwidth == 50_GBps);
  CHECK(links[0].latency == 3_us);
  CHECK(links[0].smallest == 4_KiB);
  CHECK(links[0].largest == 100_MB);
  CHECK(links[1].role == LinkRole::peer);
}

TEST_CASE("the shipped copies give the rates that the platform states", "[fit]") {
  const auto links = fit_links(shipped_samples());
  REQUIRE(links.size() == 5);
  CHECK(links[0].bandwidth.value() == Approx(55.5e9).epsilon(0.002));   // pinned, to the GPU
  CHECK(links[1].bandwidth.value() == Approx(55.4e9).epsilon(0.002));   // and back
  CHECK(links[2].bandwidth.value() == Approx(25.6e9).epsilon(0.002));   // pageable
  CHECK(links[3].bandwidth.value() == Approx(388.5e9).epsilon(0.002));  // NVLink
  CHECK(links[4].role == LinkRole::host_memory);
  CHECK(links[4].gpus == 4);
  CHECK(ring_rate(links[4]).value() == Approx(26.21e9).epsilon(0.001));
}

TEST_CASE("kernels reach the medians of their classes", "[fit]") {
  Samples samples;
  const auto product = [&](double m, double n, double k, double tflops) {
    samples.matrix.push_back({Precision::fp32, m, n, k, Seconds{2 * m * n * k / tflops / 1e12}});
  };
  product(4096, 4096, 4096, 50);
  product(8192, 8192, 8192, 52);
  product(8192, 8192, 4096, 10);  // not square
  product(2048, 2048, 2048, 30);  // between the classes
  product(512, 512, 512, 20);
  samples.memory = {{false, 512_MiB, Seconds{512_MiB / 4000_GBps}},
                    {true, 512_MiB, Seconds{512_MiB / 2000_GBps}},
                    {false, 512_KiB, 4_us},
                    {true, 512_KiB, 5_us},
                    {false, 16_MiB, 1_us}};  // neither large nor tiny
  samples.launches = {5_us, 6_us, 7_us};

  const auto rates = fit_kernels(samples);

  REQUIRE(rates.matrix.size() == 2);
  CHECK(rates.matrix[0].large);
  CHECK(rates.matrix[0].rate.value() == Approx(50e12));
  CHECK(rates.matrix[1].rate.value() == Approx(20e12));
  CHECK(rates.stream->value() == Approx(4000e9));
  CHECK(rates.widen->value() == Approx(2000e9));
  CHECK(*rates.smallest_kernel == 4_us);
  CHECK(*rates.launch_cost == 6_us);
  CHECK(fit_kernels(Samples{}).matrix.empty());
  CHECK_FALSE(fit_kernels(Samples{}).stream);
}
