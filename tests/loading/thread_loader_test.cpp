// SPDX-License-Identifier: Apache-2.0
// DALI and tf.data: steps follow from their slowest stage, and from the batches that are under way.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "sim/cost/nvjpeg.hpp"
#include "sim/plan/input/thread_loader.hpp"
#include "sim/platform/with_loading.hpp"
#include "sim/run/simulate.hpp"
#include "sim/scenario/shared_by_loaders.hpp"
#include "tests/support/sharded.hpp"
#include "tests/support/tolerances.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

/// A rank whose step takes 1 ms, with batches of four samples that take `decode` of a core each.
Scenario loading(LoaderKind loader, int threads, Seconds decode, int ranks = 1) {
  auto scenario = sharded_ring(ranks, blocks_of_layers(1, 0.4_ms, 0.6_ms, 0), NoExchange{});
  scenario.job.batch_per_gpu = 4;
  auto& input = scenario.job.input;
  input.loader = loader;
  input.loader_workers = threads;
  Dataset dataset;
  dataset.samples = 1e6;
  dataset.sample_size = Bytes{1};
  dataset.delivered = Bytes{1};
  dataset.cpu.decode = decode;
  input.dataset = dataset;
  return scenario;
}

/// Storage whose requests take `first_byte`, one for each sample.
void add_storage(Scenario& scenario, Seconds first_byte) {
  auto& tier = scenario.job.input.storage.emplace();
  tier.read = BytesPerSecond{1e15};
  tier.first_byte = first_byte;
}

double step_ms(const Scenario& scenario, const char* engine) {
  return simulate(scenario, engine).measured.metrics.step_time.value() * 1e3;
}

}  // namespace

TEST_CASE("threads of tf.data share each batch evenly", "[loading]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const auto threads = GENERATE(1, 2, 3, 8);
  CAPTURE(engine, threads);
  CHECK(step_ms(loading(LoaderKind::tf_data, threads, 0.75_ms), engine) ==
        Approx(std::max(1.0, 3.0 / threads)).epsilon(tolerance::closed_form));
  // Each thread reads on its own, too.
  auto reads = loading(LoaderKind::tf_data, threads, 0.75_ms);
  add_storage(reads, 1.25_ms);
  CHECK(step_ms(reads, engine) == Approx(std::max(1.0, 8.0 / threads)).epsilon(tolerance::closed_form));
}

TEST_CASE("threads of DALI take whole samples", "[loading]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const auto threads = GENERATE(1, 2, 3, 4, 8);
  CAPTURE(engine, threads);
  CHECK(step_ms(loading(LoaderKind::dali, threads, 0.75_ms), engine) ==
        Approx(std::max(1.0, 0.75 * std::ceil(4.0 / threads))).epsilon(1e-6));
}

TEST_CASE("DALI reads with one thread, whatever its CPU threads", "[loading]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  auto scenario = loading(LoaderKind::dali, 8, 0.1_ms);
  add_storage(scenario, 1_ms);
  CHECK(step_ms(scenario, engine) == Approx(4).epsilon(1e-6));
  scenario.job.input.loader = LoaderKind::pytorch;
  CHECK(step_ms(scenario, engine) == Approx(1).epsilon(1e-6));
}

TEST_CASE("DALI reads a batch while its threads decode another, even with a queue of one", "[loading]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const auto depth = GENERATE(1, 2, 4);
  CAPTURE(engine, depth);
  // 3 ms to read, 2 ms on four threads.
  auto scenario = loading(LoaderKind::dali, 4, 2_ms);
  add_storage(scenario, 0.75_ms);
  scenario.job.input.prefetch_factor = depth;
  const auto metrics = simulate(scenario, engine).measured.metrics;
  CHECK(metrics.step_time.value() * 1e3 == Approx(3).epsilon(1e-6));
  CHECK(metrics.loading->first_batch.value() * 1e3 == Approx(5).epsilon(1e-6));
}

TEST_CASE("nvJPEG needs the CPU, the GPU and its decoder by the share of each", "[loading]") {
  Gpu gpu;
  gpu.multiprocessors = 132;
  gpu.jpeg_decoder = 7.15e9;
  const auto load = GENERATE(0.0, 0.65, 1.0);
  const auto image = nvjpeg_cost(Bytes{73070}, 187500, load, gpu);
  CHECK(image.cpu.value() * 1e6 == Approx(171 * (1 - load) + 26 * load));
  CHECK(image.gpu.value() * 1e6 == Approx(8.4 * (1 - load) + 6.5 * load));
  CHECK(image.decoder.value() == Approx(load * 187500 / 7.15e9).margin(1e-15));
  // Half the multiprocessors take twice as long; four times the pixels, too.
  gpu.multiprocessors = 66;
  CHECK(nvjpeg_cost(Bytes{73070}, 187500, load, gpu).gpu == 2 * image.gpu);
  CHECK(nvjpeg_cost(Bytes{73070}, 2 * 187500, load, gpu).gpu == 4 * image.gpu);
}

TEST_CASE("decoding on the GPU takes its time from training that fills the GPU", "[loading]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const auto pixels = GENERATE(187500.0, 1875000.0);
  CAPTURE(engine, pixels);
  auto scenario = loading(LoaderKind::dali, 8, {});
  auto& input = scenario.job.input;
  input.decode_on_gpu = true;
  input.dataset->pixels = pixels;
  const auto of_training = step_ms(loading(LoaderKind::pytorch, 8, {}), engine);
  const auto decoding = batch_cost(scenario)->gpu.value() * 1e3;
  REQUIRE(decoding > 0);
  CHECK(step_ms(scenario, engine) == Approx(of_training + decoding).epsilon(1e-6));
}

TEST_CASE("DALI's stages of GPU and JPEG decoder bound the step alone", "[loading]") {
  auto scenario = loading(LoaderKind::dali, 8, {});
  auto& input = scenario.job.input;
  scenario.platform.gpu_models.front().jpeg_decoder = 1e9;
  input.decode_on_gpu = true;
  input.hw_decoder_load = 1;
  input.dataset->pixels = 1e6;  // four images of 1 ms each
  const auto metrics = simulate(scenario, "fluid").measured;
  CHECK(metrics.metrics.step_time.value() * 1e3 == Approx(4).epsilon(1e-3));
  const auto& found = std::get<bottleneck::Loader>(metrics.bottleneck);
  CHECK(found.stage == LoaderStage::jpeg_decoder);
  CHECK(found.batch.value() * 1e3 == Approx(4).epsilon(1e-6));
}

TEST_CASE("a queue of DALI holds its batches in the GPU's memory", "[loading]") {
  auto scenario = loading(LoaderKind::dali, 8, 0.1_ms);
  scenario.model.input_per_sample = Bytes{600e3};
  auto& input = scenario.job.input;
  const auto held = [&] { return simulate(scenario, "fluid").measured.memory.input.value(); };
  CHECK(held() == Approx(2 * 4 * 600e3));
  input.prefetch_factor = 5;
  CHECK(held() == Approx(5 * 4 * 600e3));
  input.decode_on_gpu = true;
  input.dataset->pixels = 1e5;
  CHECK(held() == Approx(5 * 4 * (600e3 + 3e5)));
}

TEST_CASE("loaders of all ranks share the cores of their node", "[loading]") {
  const auto loader = GENERATE(LoaderKind::dali, LoaderKind::tf_data);
  // Four ranks that need 4 ms of a core each, and three cores.
  auto scenario = loading(loader, 4, 1_ms, 4);
  scenario.platform = with_loading(scenario.platform, {}, {}, 3.0);
  CHECK(step_ms(scenario, "fluid") == Approx(4 * 4.0 / 3).epsilon(1e-6));
}

TEST_CASE("threads need no start at the beginning of an epoch", "[loading]") {
  auto scenario = loading(LoaderKind::dali, 4, 0.5_ms);
  scenario.job.input.first_epoch = true;
  const auto metrics = simulate(scenario, "fluid").measured.metrics;
  CHECK(metrics.loading->first_batch.value() * 1e3 == Approx(0.5).epsilon(1e-6));
}
