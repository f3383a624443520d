// SPDX-License-Identifier: Apache-2.0
// Steps of the captured examples in models/ against measurements on one H200: own measurement, 2026-11-26,
// PyTorch 2.11.0, medians of 20 steps of models/programs/. RetinaNet is compared with published steps below.
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/run/simulate.hpp"

using namespace gradway;

namespace {

const std::string root = GRADWAY_SOURCE_DIR;
const std::string scenario = root + "/tests/validation/data/shipped-captures.yaml";

struct MeasuredStep {
  const char* model;
  int batch;
  double milliseconds;
  double peak;  ///< torch.cuda.max_memory_allocated, in bytes
};

constexpr MeasuredStep steps[] = {
    {"vit_l_16_bf16", 64, 85.9004, 15883014144},   {"convnext_base_bf16", 128, 96.4016, 17939752960},
    {"unet_860m", 16, 201.2241, 32305867776},      {"dit_xl_2", 64, 182.0377, 35389798400},
    {"whisper_medium", 16, 280.3183, 48308670976}, {"olmoe_8_layers", 4, 162.9812, 39985389056}};

}  // namespace

TEST_CASE("predicted steps of the captured examples on one H200 keep their errors",
          "[validation][captures]") {
  double sum = 0;
  for (const auto& measured : steps) {
    const auto run = simulate(load_scenario(
        scenario, {{"model", measured.model}, {"job.batch_per_gpu", fmt::to_string(measured.batch)}},
        DataPath{{root}}));
    const auto& metrics = run.measured.metrics;
    const double step = metrics.step_time.value() * 1e3 / measured.milliseconds - 1;
    const double memory = metrics.peak_memory.value() / measured.peak - 1;
    CAPTURE(measured.model, step, memory);
    CHECK(run.range.low.value() * 1e3 <= measured.milliseconds);
    CHECK(measured.milliseconds <= run.range.high.value() * 1e3);
    CHECK(std::abs(step) < 0.1);      // a guard set after the result
    CHECK(std::abs(memory) < 0.035);  // as for the other captures
    sum += std::abs(step);
  }
  CHECK(sum / std::size(steps) < 0.05);  // the goal of captures
}

TEST_CASE("MLPerf's published steps of RetinaNet are predicted from a capture alone",
          "[validation][captures]") {
  const DataPath data{{root}};
  const auto cases = load_cases(root + "/scenarios/published/mlperf-retinanet.yaml", data);
  REQUIRE(cases.cases.size() == 9);
  double sum = 0;
  for (const auto& row : cases.cases) {
    const auto run = simulate(load_scenario(row.scenario_file, row.set, data));
    const double error = run.measured.metrics.step_time / row.measured - 1;
    UNSCOPED_INFO(row.name << ": " << error);
    sum += std::abs(error);
  }
  CHECK(sum / 9 < 0.1);
}
