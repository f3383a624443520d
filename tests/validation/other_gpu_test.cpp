// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cmath>

#include "sim/config/config.hpp"
#include "sim/run/simulate.hpp"

using namespace gradway;

TEST_CASE(
    "profiles of an H200 moved to an H100 by roofline meet its steps within 6 %, and within 3 % on average",
    "[validation]") {
  // Own measurement, 2026-11-21: one H100 80GB HBM3, PyTorch 2.11, median of 25 steps without a profiler.
  struct Measured {
    const char* scenario;
    double ms;
  };
  const Measured steps[] = {{"vit_l_32", 84.74},
                            {"gpt_medium", 68.71},
                            {"resnet50", 31.39},
                            {"mobilenet_v3_large", 26.86},
                            {"vit_b_16", 34.72}};
  const std::string root = GRADWAY_SOURCE_DIR;
  const DataPath data{{root + "/tests/validation/data", root}};
  double sum = 0;
  for (const auto& [name, ms] : steps) {
    const auto scenario =
        load_scenario(root + "/scenarios/h200-4x/" + name + ".yaml",
                      {{"platform", "one-h100"}, {"job.gpus", "1"}, {"strategy", "{ kind: none }"}}, data);
    const auto error = simulate(scenario).measured.metrics.step_time.value() * 1e3 / ms - 1;
    CAPTURE(name, error);
    CHECK(std::abs(error) < 0.06);
    sum += std::abs(error);
  }
  CHECK(sum / std::size(steps) < 0.03);
}
