// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cmath>

#include "sim/cost/clocks.hpp"

using namespace gradway;

namespace {

constexpr auto limit = 700.0;

const GpuPower power{.limit = Watts{limit},
                     .idle = Watts{130},
                     .communication = Watts{305},
                     .product = Watts{900},
                     .product_fp32 = Watts{710},
                     .attention = Watts{870},
                     .convolution = Watts{800},
                     .other = Watts{500}};

GpuLoad load(double products, double others) {
  GpuLoad made;
  made.add(OperationClass::product, Precision::bf16, Seconds{products}, power);
  made.add(OperationClass::elementwise, Precision::fp32, Seconds{others}, power);
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

TEST_CASE("each class of kernels has its own power") {
  const auto alone = [](OperationClass kind, Precision precision) {
    GpuLoad made;
    made.add(kind, precision, Seconds{1}, power);
    return clock_slowdown(power, made, {});
  };
  const auto root = [](double watts) { return Approx(std::sqrt(watts / limit)).epsilon(1e-12); };
  CHECK(alone(OperationClass::product, Precision::tf32) == root(900));
  CHECK(alone(OperationClass::product, Precision::fp32) == root(710));
  CHECK(alone(OperationClass::attention, Precision::bf16) == root(870));
  CHECK(alone(OperationClass::convolution, Precision::bf16) == root(800));
  CHECK(alone(OperationClass::normalization, Precision::fp32) == 1);
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
