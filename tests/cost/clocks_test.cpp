// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cmath>

#include "sim/cost/clocks.hpp"

using namespace gradway;

namespace {

constexpr auto limit = 700.0;

constexpr double bf16_peak = 1e15;

Gpu limited_gpu() {
  Gpu gpu;
  for (auto& peak : gpu.peak) peak = FlopsPerSecond{bf16_peak};
  gpu.peak[static_cast<std::size_t>(Precision::fp32)] = FlopsPerSecond{1e14};
  gpu.power = GpuPower{.limit = Watts{limit},
                       .idle = Watts{130},
                       .communication = Watts{305},
                       .kernel = Watts{500},
                       .tensor_cores = Watts{800},
                       .fp32_units = Watts{420}};
  return gpu;
}

const auto gpu = limited_gpu();
const auto& power = *gpu.power;

/// @param share of the peak at which it computes
Operation computing(OperationClass kind, Precision precision, double seconds, double share) {
  const auto peak = *gpu.peak[static_cast<std::size_t>(precision)];
  Operation made;
  made.kind = kind;
  made.precision = precision;
  made.flops = Flops{share * seconds * peak.value()};
  return made;
}

/// Products that draw 900 W at full clocks, and kernels that draw 500 W. Both in seconds.
GpuLoad load(double products, double others) {
  GpuLoad made;
  made.add(computing(OperationClass::product, Precision::bf16, products, 0.5), Seconds{products}, gpu);
  made.add(computing(OperationClass::elementwise, Precision::bf16, others, 0), Seconds{others}, gpu);
  return made;
}

/// Mean power of a step whose products take `slowdown` times as long, with power proportional to the square
/// of their speed.
double mean_power(double products, double others, double idle, double slowdown) {
  const double joules = products * 900 / slowdown + others * 500 + idle * 130;
  return joules / (products * slowdown + others + idle);
}

}  // namespace

TEST_CASE("the speed of continuous products falls with the root of their power over the limit") {
  CHECK(clock_slowdown(power, load(1, 0), {}) == Approx(std::sqrt(900 / limit)).epsilon(1e-12));
  CHECK(clock_slowdown(power, load(1e-3, 0), {}) == Approx(std::sqrt(900 / limit)).epsilon(1e-12));
}

TEST_CASE("the mean power of the slowed step equals the limit, waits included") {
  const auto products = GENERATE(0.6, 0.8, 3.0);
  const auto others = GENERATE(0.01, 0.2);
  const auto slowdown = clock_slowdown(power, load(products, others), {});
  REQUIRE(slowdown > 1);
  CHECK(mean_power(products, others, 0, slowdown) == Approx(limit).epsilon(1e-12));

  const double share = 0.05;  // of the kernels' time
  const auto while_waiting = clock_slowdown(power, load(products, others), {.idle = share});
  const double idle = share * (products * slowdown + others);
  CHECK(while_waiting < slowdown);
  CHECK(while_waiting > 1);
  CHECK(mean_power(products, others, idle, while_waiting) == Approx(limit).epsilon(1e-12));
}

TEST_CASE("work below the power limit is not slowed down") {
  CHECK(clock_slowdown(power, load(1, 1), {}) == 1);  // 700 W
  CHECK(clock_slowdown(power, load(0, 1), {}) == 1);
  CHECK(clock_slowdown(power, {}, {}) == 1);
  CHECK(clock_slowdown(power, load(1, 0), {.idle = 0.5}) == 1);
  CHECK(clock_slowdown(power, load(1, 0), WaitRatio::always()) == 1);
  CHECK(clock_slowdown(power, load(1, 0), {.communication = 0.3}) > 1);  // 757 W at full clocks
}

TEST_CASE("arithmetic draws as much energy per operation as at the peak rate") {
  const auto alone = [](OperationClass kind, Precision precision, double share) {
    GpuLoad made;
    made.add(computing(kind, precision, 2e-3, share), Seconds{2e-3}, gpu);
    return clock_slowdown(power, made, {});
  };
  const auto root = [](double watts) { return Approx(std::sqrt(watts / limit)).epsilon(1e-12); };
  CHECK(alone(OperationClass::product, Precision::tf32, 0.8) == root(500 + 0.8 * 800));
  CHECK(alone(OperationClass::attention, Precision::bf16, 0.4) == root(500 + 0.4 * 800));
  CHECK(alone(OperationClass::convolution, Precision::fp16, 0.2) == 1);
  CHECK(alone(OperationClass::product, Precision::fp32, 0.9) == root(500 + 0.9 * 420));
  CHECK(alone(OperationClass::normalization, Precision::fp32, 0.9) == 1);
}

TEST_CASE("a long wait lets kernels run at full clocks until the mean of the window is the limit") {
  const auto products = load(1, 0);
  const double counts = longest_effective_wait(power, products).value();
  CHECK(counts == Approx(0.08 * (900 - limit) / (900 - 130)).epsilon(1e-12));
  // With the most work at full clocks that the window allows, its mean equals the limit.
  const double at_full_clocks = counts * (limit - 130) / (900 - limit);
  CHECK(at_full_clocks * 900 + (0.08 - at_full_clocks) * 130 == Approx(0.08 * limit).epsilon(1e-12));
  CHECK(longest_effective_wait(power, load(1, 0.1)) < longest_effective_wait(power, products));
}
