// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <algorithm>

#include "sim/config/config.hpp"
#include "sim/run/simulate.hpp"
#include "tests/support/facts.hpp"

using namespace gradway;

namespace {

Scenario vit() {
  return load_scenario("h200-4x/vit_l_32", {}, DataPath{{GRADWAY_SOURCE_DIR}});
}

}  // namespace

TEST_CASE("a run repeats what its calibration got wrong of samples that were held back") {
  auto scenario = vit();
  scenario.calibration.holdout_errors = {{"collectives below 64 KiB", 4, {0.01, 0.05}},
                                         {"products", 9, {0.2, 0.4}},
                                         {"side by side", 2, {0.03, 0.04}}};
  const auto subject = "calibration h200-4x-tables, median error for samples that its fit did not use";
  const auto basis = simulate(scenario).basis;
  const auto* errors = test::find_fact(basis, subject);
  REQUIRE(errors);
  CHECK(errors->statement ==
        "collectives below 64 KiB 1.0 % (worst 5.0 %), side by side 3.0 % (worst 4.0 %)");
  scenario.calibration.holdout_errors.clear();
  CHECK_FALSE(test::find_fact(simulate(scenario).basis, subject));
}

TEST_CASE("slow-downs measured with other channels are taken, with a warning") {
  auto scenario = vit();
  const auto own = simulate(scenario);
  CHECK_FALSE(test::find_warning(own.warnings, "extrapolated-contention"));
  // A second entry with other channels, and other factors, changes nothing; alone it stands in.
  const auto measured = scenario.calibration.contention;
  auto others = measured;
  for (auto& entry : others) {
    entry.channels = 1;
    entry.kernel_slowdown = 2;
  }
  scenario.calibration.contention.insert(scenario.calibration.contention.begin(), others.begin(),
                                         others.end());
  CHECK(simulate(scenario).measured.metrics.step_time == own.measured.metrics.step_time);
  scenario.calibration.contention = others;
  const auto stretched = simulate(scenario);
  CHECK(stretched.measured.metrics.step_time > own.measured.metrics.step_time);
  const auto* warning = test::find_warning(stretched.warnings, "extrapolated-contention");
  REQUIRE(warning);
  CHECK(warning->sentence ==
        "contention between kernels and collectives was measured with 1 NCCL channels (here 24)");
  for (auto& entry : scenario.calibration.contention) entry.measured_on = "elsewhere";
  const auto warnings = simulate(scenario).warnings;
  const auto* of_another_node = test::find_warning(warnings, "extrapolated-contention");
  REQUIRE(of_another_node);
  CHECK(of_another_node->sentence ==
        "contention between kernels and collectives was measured on elsewhere (not here), with 1 NCCL "
        "channels (here 24)");
}
