// SPDX-License-Identifier: Apache-2.0
// Steps and peak memory of programs of Hugging Face's transformers 5.17 and torchvision 0.26, whose captures
// need no GPU, against own measurements on one H200 (2026-11-26, PyTorch 2.11.0, medians of steps,
// torch.cuda.max_memory_allocated). Every program that was measured is here. No number was fitted to these
// rows. `cases` is no held-out test: rules were changed after a comparison with it, partly from profiles of
// its programs, and 21 of its programs at small batches are among those from which the CPU times of
// operations were learnt. The programs of `new-cases` were captured before they were measured, but
// are no held-out test either: how convolutions are interpolated, and elementwise kernels, was decided after
// a comparison with them.
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sim/config/config.hpp"
#include "sim/run/simulate.hpp"
#include "sim/workload/captured/captured_step.hpp"
#include "sim/workload/eager/eager.hpp"

using namespace gradway;

namespace {

const std::string root = GRADWAY_SOURCE_DIR;
const std::string folder = root + "/tests/validation/data/captures";

struct CapturedRow {
  std::string model;
  double step = 0;    ///< predicted over measured, less 1
  double memory = 0;  ///< peak, predicted over measured, less 1
  bool is_inside = false;
  bool is_launch_bound = false;
};

std::map<std::string, double> measured_peaks() {
  std::map<std::string, double> peaks;
  std::ifstream file{folder + "/peaks.jsonl"};
  for (std::string line; std::getline(file, line);) {
    const auto row = nlohmann::json::parse(line);
    peaks[row.at("model").get<std::string>()] = row.at("peak_bytes").get<double>();
  }
  return peaks;
}

std::vector<CapturedRow> captured_rows(const std::string& cases) {
  const DataPath data{{folder, root}};
  const auto peaks = measured_peaks();
  std::vector<CapturedRow> rows;
  for (const auto& measured : load_cases(folder + "/" + cases, data).cases) {
    const auto scenario = load_scenario(measured.scenario_file, measured.set, data);
    const auto run = simulate(scenario);
    const auto& metrics = run.measured.metrics;
    rows.push_back({.model = scenario.model.name,
                    .step = metrics.step_time / measured.measured - 1,
                    .memory = metrics.peak_memory.value() / peaks.at(scenario.model.name) - 1,
                    .is_inside = run.range.low <= measured.measured && measured.measured <= run.range.high,
                    .is_launch_bound = metrics.launch_bound > 0.03 * metrics.step_time});
  }
  return rows;
}

/// Mean absolute errors.
struct CapturedErrors {
  double gpu_bound = 0;
  double launch_bound = 0;
  int of_gpu = 0;
  int of_launches = 0;
};

CapturedErrors errors_of(const std::vector<CapturedRow>& rows) {
  CapturedErrors errors;
  for (const auto& row : rows) {
    (row.is_launch_bound ? errors.launch_bound : errors.gpu_bound) += std::abs(row.step);
    ++(row.is_launch_bound ? errors.of_launches : errors.of_gpu);
  }
  errors.gpu_bound /= errors.of_gpu;
  errors.launch_bound /= errors.of_launches;
  return errors;
}

}  // namespace

TEST_CASE("predicted steps of all captured programs on one H200 keep their errors",
          "[validation][captures]") {
  const auto rows = captured_rows("cases.yaml");
  REQUIRE(rows.size() == 46);
  for (const auto& row : rows) {
    CAPTURE(row.model, row.step, row.memory, row.is_launch_bound);
    CHECK(row.is_inside);
    CHECK(std::abs(row.memory) < 0.035);  // a guard set after the result; the goal is 0.03
    // Guards set after the result; the goal of the first is 0.15.
    CHECK(std::abs(row.step) < (row.is_launch_bound ? 0.30 : 0.12));
  }
  const auto errors = errors_of(rows);
  CHECK(errors.of_gpu == 37);
  CHECK(errors.gpu_bound < 0.05);      // the goal
  CHECK(errors.launch_bound < 0.125);  // a guard set after the result, with the default time of the CPU
}

TEST_CASE("programs that were captured before they were measured are within their intervals",
          "[validation][captures]") {
  const auto rows = captured_rows("new-cases.yaml");
  REQUIRE(rows.size() == 12);
  for (const auto& row : rows) {
    CAPTURE(row.model, row.step, row.memory, row.is_launch_bound);
    CHECK(row.is_inside);
    CHECK(std::abs(row.memory) < 0.11);  // a guard set after the result
  }
  const auto all = errors_of(rows);
  // Guards set after the result. SegFormer, which the CPU limits, is predicted to be limited by the GPU.
  CHECK((all.gpu_bound * all.of_gpu + all.launch_bound * all.of_launches) / 12 < 0.09);
  auto others = rows;
  REQUIRE(std::erase_if(others, [](const auto& row) { return row.model.starts_with("segformer"); }) == 1);
  CHECK(errors_of(others).gpu_bound < 0.08);
}

TEST_CASE("options of DDP and values that programs read back on one H200 keep their errors",
          "[validation][captures]") {
  const DataPath data{{folder, root}};
  double sum = 0;
  const auto cases = load_cases(folder + "/options.yaml", data).cases;
  REQUIRE(cases.size() == 40);
  for (const auto& row : cases) {
    const auto run = simulate(load_scenario(row.scenario_file, row.set, data));
    const auto error = run.measured.metrics.step_time / row.measured - 1;
    CAPTURE(row.name, error);
    CHECK(run.range.low <= row.measured);
    CHECK(row.measured <= run.range.high);
    CHECK(std::abs(error) < 0.15);  // a guard set after the result; the goal is 0.10
    sum += std::abs(error);
  }
  CHECK(sum / 40 < 0.045);  // a guard set after the result; the goal is 0.04
}

// Two programs under torch.compile on one H100: own measurement, 2026-11-24, PyTorch 2.11. Their captures are
// the eager ones with `compiled: true`. The rules of fusion were written before the comparison.
TEST_CASE("compiled captures are within their intervals", "[validation][captures]") {
  struct CompiledRow {
    std::string model;
    std::string batch;
    Seconds measured;
    double guard;  ///< set after the result
  };
  const std::vector<CompiledRow> rows{{"llama3_2_1b_4_2048_bf16_fused", "4", 147.8_ms, 0.17},
                                      {"gpt2_medium_8_1024_amp", "8", 69.32_ms, 0.06}};
  const auto temporary = std::filesystem::temp_directory_path() / "gradway-compiled-captures";
  std::filesystem::create_directories(temporary / "models");
  for (const auto& row : rows) {
    std::ifstream eager{folder + "/models/" + row.model + ".yaml"};
    std::ofstream compiled{temporary / "models" / (row.model + "_compiled.yaml")};
    for (std::string line; std::getline(eager, line);) {
      compiled << line << '\n';
      if (line.starts_with("batch:")) compiled << "compiled: true\n";
    }
    compiled.close();
    const std::vector<Override> set{
        {"model", row.model + "_compiled"}, {"platform", "hgx-8x-h100"}, {"job.batch_per_gpu", row.batch}};
    const auto run = simulate(load_scenario(folder + "/one.yaml", set, DataPath{{temporary, root}}));
    const auto error = run.measured.metrics.step_time / row.measured - 1;
    CAPTURE(row.model, error);
    CHECK(std::abs(error) < row.guard);
    CHECK(run.range.low <= row.measured);
    CHECK(row.measured <= run.range.high);
  }
  std::filesystem::remove_all(temporary);
}

// Shortest CPU times of the passes at batches so small that the GPU waits, from which the times of classes of
// operations were learnt: own measurement, 2026-11-26, an H200 and 16 cores. The unit is that host's
// `eager_operation` of 32 us over 1.1, the median over the shortest time.
TEST_CASE("CPU times of captured passes by class of operation keep their residuals",
          "[validation][captures]") {
  constexpr double unit = 29e-3;  // ms
  std::ifstream file{folder + "/cpu_times.jsonl"};
  double forward = 0;
  double backward = 0;
  int number = 0;
  for (std::string line; std::getline(file, line); ++number) {
    const auto measured = nlohmann::json::parse(line);
    const auto model = load_model(measured.at("model").get<std::string>(), DataPath{{folder, root}});
    const auto step =
        eager_step(model, {.batch = model.captured->batch, .sequence = model.captured->sequence});
    std::array<double, 2> sums{};
    for (const auto& layer : step.layers) {
      for (const auto& operation : layer.forward) sums[0] += operation.host * unit;
      for (const auto& operation : layer.backward) sums[1] += operation.host * unit;
    }
    const auto errors = std::pair{sums[0] / measured.at("forward_ms").get<double>() - 1,
                                  sums[1] / measured.at("backward_ms").get<double>() - 1};
    CAPTURE(model.name, errors.first, errors.second);
    CHECK(std::abs(errors.first) < 0.18);
    CHECK(std::abs(errors.second) < 0.16);
    forward += std::abs(errors.first);
    backward += std::abs(errors.second);
  }
  REQUIRE(number == 23);
  CHECK(forward / number < 0.06);
  CHECK(backward / number < 0.075);
}
