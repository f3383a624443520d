// SPDX-License-Identifier: Apache-2.0
// Which measured steps can be anchors.
#include <catch2/catch.hpp>

#include "sim/study/compare/proposed_anchor.hpp"
#include "tests/support/builders.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

Scenario alone() {
  Scenario scenario;
  scenario.platform = built_platform(nvswitch_node(2));
  set_forward_pass(scenario.model, decoder({}));
  scenario.job.batch_per_gpu = 8;
  scenario.job.precision = Precision::bf16;
  scenario.job.optimizer = Optimizer::adamw;
  scenario.job.strategy = NoExchange{};
  return scenario;
}

}  // namespace

TEST_CASE("a measured step on one GPU can be an anchor", "[study][anchor]") {
  const auto anchor = proposed_anchor(alone(), 55_ms, "mine");
  REQUIRE(anchor);
  CHECK(anchor->gpu == "round");
  CHECK(anchor->precision == Precision::bf16);
  CHECK(anchor->batch == 8);
  CHECK(anchor->optimizer == Optimizer::adamw);
  CHECK(anchor->step_time == 55_ms);
  CHECK(anchor->source == "mine");
}

TEST_CASE("steps on several GPUs or with what-if speeds are not anchors", "[study][anchor]") {
  auto several = alone();
  several.job.gpus = 2;
  CHECK_FALSE(proposed_anchor(several, 55_ms, ""));
  auto ddp = alone();
  ddp.job.strategy = Ddp{};
  CHECK_FALSE(proposed_anchor(ddp, 55_ms, ""));
  auto accumulating = alone();
  accumulating.job.accumulate = 2;
  CHECK_FALSE(proposed_anchor(accumulating, 55_ms, ""));
  auto imagined = alone();
  imagined.platform.speeds[HardwarePart::gpu] = 2;
  CHECK_FALSE(proposed_anchor(imagined, 55_ms, ""));
  auto profiled = alone();
  Profile profile;
  profile.gpu = "round";
  profiled.model.profile = std::make_shared<const Profile>(profile);
  CHECK_FALSE(proposed_anchor(profiled, 55_ms, ""));
  profile.gpu = "another";
  profiled.model.profile = std::make_shared<const Profile>(profile);
  CHECK(proposed_anchor(profiled, 55_ms, ""));
  auto synthetic = ring_scenario(1, {{"layer", 1, 1_ms, 2_ms, 1000}}, 50_MB);
  synthetic.job.strategy = NoExchange{};
  CHECK_FALSE(proposed_anchor(synthetic, 55_ms, ""));
}
