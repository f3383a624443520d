// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <algorithm>

#include "sim/fit/links.hpp"
#include "sim/fit/shared_limits.hpp"

using namespace gradway;

namespace {

constexpr Bytes size = 256_MiB;

/// Copies alone: 50 GB/s over PCIe either way, 400 GB/s to another GPU.
Samples alone() {
  Samples samples;
  samples.copies = {{LinkRole::to_gpu, size, size / 50_GBps},
                    {LinkRole::from_gpu, size, size / 50_GBps},
                    {LinkRole::peer, size, size / 400_GBps}};
  return samples;
}

/// A pattern whose copies all reach one rate.
PatternRow pattern(const std::string& name, std::vector<CopyWay> copies, BytesPerSecond each) {
  return {name, copies, size, std::vector<Seconds>(copies.size(), size / each)};
}

PatternRow pattern(const std::string& name, BytesPerSecond each) {
  return pattern(name, copies_of_pattern(name), each);
}

std::vector<SharedLimit> fitted(const Samples& samples) {
  return fit_shared_limits(samples.patterns, samples.copies, fit_links(samples));
}

const SharedLimit& of(const std::vector<SharedLimit>& limits, SharedPart part) {
  const auto found = std::ranges::find(limits, part, &SharedLimit::part);
  REQUIRE(found != limits.end());
  return *found;
}

}  // namespace

TEST_CASE("the names of older samples stand for their copies", "[fit]") {
  CHECK(copies_of_pattern("h2d_x4").size() == 4);
  CHECK(copies_of_pattern("h2d+d2h_x4").size() == 8);
  CHECK(copies_of_pattern("ring_x3")[2].to == 0);
  CHECK(copies_of_pattern("pairs_0>1_2>3")[1].from == 2);
  CHECK(copies_of_pattern("bidir_0<>1").size() == 2);
  CHECK(copies_of_pattern("bidir_0<>1")[1].from == 1);
  const auto both = copies_of_pattern("h2d_0+d2h_1");
  REQUIRE(both.size() == 2);
  CHECK(both[0].role() == LinkRole::to_gpu);
  CHECK(both[1].role() == LinkRole::from_gpu);
  CHECK(both[1].from == 1);
  for (const auto* name : {"", "h2d", "h2d_x", "h2d_x4y", "ring_x1", "pairs", "pairs_0>0", "bidir_0<1",
                           "d2d_x2", "h2d_x99999999999", "h2d_-1"}) {
    CAPTURE(name);
    CHECK(copies_of_pattern(name).empty());
  }
}

TEST_CASE("limits that made the patterns are found again, each in its part", "[fit]") {
  // PCIe of a GPU 80 GB/s both ways; host memory written at 120 GB/s, 180 GB/s altogether; NVLink has no
  // limit.
  auto samples = alone();
  samples.patterns = {pattern("h2d_x3", 50_GBps),      pattern("d2h_x3", 40_GBps),
                      pattern("h2d_0+d2h_0", 40_GBps), pattern("h2d+d2h_x3", 30_GBps),
                      pattern("ring_x4", 400_GBps),    pattern("bidir_0<>1", 400_GBps)};
  if (GENERATE(false, true)) std::ranges::reverse(samples.patterns);

  const auto limits = fitted(samples);

  CHECK(of(limits, SharedPart::gpu_pcie).limits);
  CHECK(of(limits, SharedPart::gpu_pcie).bandwidth.value() == Approx(80e9));
  CHECK(of(limits, SharedPart::host_write).limits);
  CHECK(of(limits, SharedPart::host_write).bandwidth.value() == Approx(120e9));
  CHECK(of(limits, SharedPart::host_write).slowdown == Approx(1.25));
  CHECK(of(limits, SharedPart::host_memory).limits);
  CHECK(of(limits, SharedPart::host_memory).bandwidth.value() == Approx(180e9));
  CHECK_FALSE(of(limits, SharedPart::host_read).limits);
  CHECK(of(limits, SharedPart::host_read).bandwidth.value() == Approx(150e9));
  CHECK_FALSE(of(limits, SharedPart::gpu_fabric).limits);
  CHECK(of(limits, SharedPart::gpu_fabric).bandwidth.value() == Approx(1600e9));
  CHECK(of(limits, SharedPart::gpu_port).bandwidth.value() == Approx(800e9));
  CHECK(limits.size() == 6);
  const auto links = fit_links(samples);
  for (const auto& row : samples.patterns)
    CHECK(*pattern_time(row, links, limits) / row.slowest() == Approx(1));
}

TEST_CASE("a pattern alone is explained by the part that most of its copies use, then the narrowest",
          "[fit]") {
  auto samples = alone();
  samples.patterns = {pattern("h2d+d2h_x4", 25_GBps)};
  CHECK(of(fitted(samples), SharedPart::host_memory).limits);
  CHECK_FALSE(of(fitted(samples), SharedPart::host_write).limits);
  samples.patterns = {pattern("h2d_x4", 25_GBps)};
  CHECK(of(fitted(samples), SharedPart::host_read).limits);
  samples.patterns = {pattern("two into one", {{0, 2}, {1, 2}}, 200_GBps)};
  CHECK(of(fitted(samples), SharedPart::gpu_in).limits);
  CHECK(of(fitted(samples), SharedPart::gpu_in).bandwidth.value() == Approx(400e9));
  samples.patterns = {pattern("one into two", {{0, 1}, {0, 2}}, 200_GBps)};
  CHECK(of(fitted(samples), SharedPart::gpu_out).limits);
}

TEST_CASE("what other patterns get through a part is no limit of it: these copies share something else",
          "[fit]") {
  auto samples = alone();
  samples.patterns = {pattern("h2d_x4", 50_GBps), pattern("h2d_0+h2d_1", 25_GBps)};
  const auto limits = fitted(samples);
  CHECK_FALSE(of(limits, SharedPart::host_read).limits);
  CHECK(of(limits, SharedPart::other).limits);
  CHECK(of(limits, SharedPart::other).bandwidth.value() == Approx(50e9));
}

TEST_CASE("copies of different speed leave a range", "[fit]") {
  auto samples = alone();
  samples.patterns = {pattern("h2d_x2", 50_GBps)};
  samples.patterns[0].times[1] = size / 25_GBps;
  const auto limit = of(fitted(samples), SharedPart::host_read);
  CHECK(limit.bandwidth.value() == Approx(50e9));
  CHECK(limit.most->value() == Approx(75e9));
}

TEST_CASE("without copies alone a pattern says nothing", "[fit]") {
  Samples samples;
  samples.patterns = {pattern("h2d_x4", 50_GBps)};
  CHECK(fitted(samples).empty());
  CHECK_FALSE(pattern_time(samples.patterns[0], {}, {}));
}
