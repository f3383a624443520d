// SPDX-License-Identifier: Apache-2.0
// Intervals of steps that wait, or may have to wait, for their loader: as sure as its figures.
#include <catch2/catch.hpp>

#include <cmath>

#include "sim/base/normal.hpp"
#include "sim/platform/with_loading.hpp"
#include "sim/run/simulate.hpp"
#include "sim/trust/step_ratio.hpp"
#include "tests/support/sharded.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

/// A step whose times are given, 1 ms behind a batch that takes 3 ms of a core.
Scenario loading(int workers, std::optional<double> error = {}) {
  auto scenario = sharded_ring(1, blocks_of_layers(1, 0.4_ms, 0.6_ms, 0), NoExchange{});
  scenario.job.batch_per_gpu = 4;
  auto& input = scenario.job.input;
  input.loader_workers = workers;
  auto& dataset = input.dataset.emplace();
  dataset.samples = 1e6;
  dataset.cpu.decode = 0.75_ms;
  dataset.cpu.error = error;
  return scenario;
}

/// The same, but batches take 3 ms to be read.
Scenario reading(int workers, StorageTier::Kind kind, std::optional<double> error = {}) {
  auto scenario = loading(workers);
  auto& input = scenario.job.input;
  input.dataset->cpu.decode = {};
  input.dataset->sample_size = 1_MB;
  auto& tier = input.storage.emplace();
  tier.kind = kind;
  tier.read = BytesPerSecond{1e15};
  tier.first_byte = 0.75_ms;
  tier.error = error;
  return scenario;
}

void check_range(const Scenario& scenario, double low_ms, double high_ms) {
  const auto run = simulate(scenario, "fluid");
  CHECK(run.range.low.value() * 1e3 == Approx(low_ms).epsilon(1e-6));
  CHECK(run.range.high.value() * 1e3 == Approx(high_ms).epsilon(1e-6));
}

}  // namespace

TEST_CASE("a step that waits for its workers is as uncertain as their work, but no shorter than training",
          "[run][trust]") {
  // Another CPU: twice as long, or half as long. Two workers: 1.5 ms a step.
  check_range(loading(2), 1, 3);
  check_range(loading(1), 1.5, 6);
  // In the training process its 3 ms come on top.
  check_range(loading(0), 1 + 1.5, 1 + 6);
  // Measured on this CPU, to 5 %.
  const auto uncertainty = std::hypot(0.08, normal_half_width(0.9) * 0.05);
  check_range(loading(1, 0.05), 3 - 3 * uncertainty / (1 + uncertainty), 3 + 3 * uncertainty);
}

TEST_CASE("a loader that keeps up may be slower by what training hides", "[run][trust]") {
  check_range(loading(4), 1, 1.5);  // 0.75 ms a step, so 1.5 if it takes twice as long
  check_range(loading(8), 1, 1);
  check_range(loading(4, 0.0), 1, 1);
}

TEST_CASE("a step that waits for storage is as uncertain as what storage gives", "[run][trust]") {
  using enum StorageTier::Kind;
  check_range(reading(2, object_store), 1, 3);
  check_range(reading(1, local_drive), 3 - 3 * 0.27 / 1.27, 3 + 3 * 0.27);
  check_range(reading(1, object_store, 0.0), 3 - 3 * 0.08 / 1.08, 3 + 3 * 0.08);
}

TEST_CASE("storage that is full is doubted, not the cores behind it", "[run][trust]") {
  // 4 MB a step at 1 GB/s, by eight workers that need 0.08 ms of a core for it: in step,
  // they read 32 MB together and then decode.
  auto scenario = reading(8, StorageTier::Kind::local_drive);
  scenario.job.input.storage->first_byte = {};
  scenario.job.input.dataset->cpu.decode = 0.02_ms;
  scenario.platform = with_loading(scenario.platform, StorageRates{.all = BytesPerSecond{1e9}}, {}, {});
  const auto run = simulate(scenario, "fluid");
  CHECK(run.measured.metrics.step_time.value() == Approx((32e-3 + 0.08e-3) / 8));
  CHECK(run.range.high.value() == Approx(4e-3 * 1.27).epsilon(0.01));
}

TEST_CASE("settings that wait for the same samples are off by the same", "[run][trust][ratio]") {
  const auto one = simulate(loading(1), "fluid");
  const auto two = simulate(loading(2), "fluid");
  const auto step = [](const Run& run) { return run.measured.metrics.step_time; };
  const auto ratio = step_ratio(step(one), one.errors, step(two), two.errors);
  CHECK(ratio.value == Approx(2));
  CHECK(ratio.high == Approx(2).epsilon(1e-6));   // both as much longer
  CHECK(ratio.low == Approx(1.5).epsilon(1e-6));  // the faster one is no shorter than training
  // Of storage nobody knows, and cores nobody knows, one may be off without the other.
  const auto read = simulate(reading(1, StorageTier::Kind::object_store), "fluid");
  CHECK(step_ratio(step(read), read.errors, step(one), one.errors).high > 1.9);
}
