// SPDX-License-Identifier: Apache-2.0
// PyTorch's DataLoader, whose times follow from a recurrence: batch i is begun when batch i - W f was taken
// and its worker is free, and taken when it is made and asked for.
#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

#include "sim/engine/engine.hpp"
#include "sim/lower/lower.hpp"
#include "sim/metrics/loading.hpp"
#include "sim/plan/input/loader.hpp"
#include "sim/platform/with_loading.hpp"
#include "sim/run/simulate.hpp"
#include "sim/scenario/shared_by_loaders.hpp"
#include "tests/support/sharded.hpp"
#include "tests/support/tolerances.hpp"
#include "tests/support/workloads.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

Task on(std::size_t stream, TaskWork work) {
  Task task;
  task.name = "work";
  task.work = std::move(work);
  task.stream = StreamId{stream};
  return task;
}

/// Times at which batches are taken in one step. Workers take the given times to make them, and the loop
/// requests the next batch `pause` later.
std::vector<double> taken(int workers, int prefetch, const std::vector<double>& made_in, double pause,
                          const char* engine) {
  Scenario scenario;
  scenario.platform = ring_platform(1, 50_GBps, Seconds{});
  Workload workload;
  Program loader{.name = "loader",
                 .streams = {{"workers", Lane::ordered, workers}, {"hand", Lane::unordered}}};
  Program rank{.name = "rank", .streams = streams_of_a_rank()};
  for (const auto time : made_in) {
    loader.tasks.push_back(on(0, Put{Slot{1}}));
    loader.tasks.back().begins_turn = true;
    loader.tasks.push_back(on(0, HostWork{Seconds{time}}));
    loader.tasks.push_back(on(1, Put{Slot{0}}));
    loader.tasks.back().after.emplace_back(loader.tasks.size() - 2);
    rank.tasks.push_back(on(0, Take{Slot{0}}));
    rank.tasks.push_back(on(0, Take{Slot{1}}));
    rank.tasks.push_back(on(0, Kernel{.work = Seconds{pause}}));
  }
  workload.programs = {rank, loader};
  add_rank(workload, scenario.platform, 0);
  workload.actors.push_back({.program = ProgramId{1}, .at = scenario.platform.gpus[0]});
  for (int slot = 0; slot < 2; ++slot) add_channel(workload, ActorId{1}, ActorId{0}, workers * prefetch);
  check(workload);
  const auto lowered = lower(workload, scenario, Communicators{workload, scenario});
  const auto timeline = choose_engine(engine).engine->run(scenario.platform, lowered.ops);
  std::vector<double> ends(made_in.size());
  for (std::size_t i = 0; i < lowered.ops.size(); ++i) {
    const auto& origin = lowered.ops.op(OpId{i}).origin;
    if (origin.program == 0 && origin.task % 3 == 0)
      ends[static_cast<std::size_t>(origin.task) / 3] = timeline.end[i].value();
  }
  return ends;
}

/// The recurrence itself.
std::vector<double> by_recurrence(int workers, int prefetch, const std::vector<double>& made_in,
                                  double pause) {
  std::vector<double> finish;
  std::vector<double> result;
  for (int i = 0; i < static_cast<int>(made_in.size()); ++i) {
    const auto at = [](const std::vector<double>& list, int k) {
      return k < 0 ? 0.0 : list[static_cast<std::size_t>(k)];
    };
    finish.push_back(std::max(at(result, i - workers * prefetch), at(finish, i - workers)) +
                     made_in[static_cast<std::size_t>(i)]);
    result.push_back(std::max(finish.back(), i == 0 ? 0 : result.back() + pause));
  }
  return result;
}

void check_near(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]).epsilon(1e-9));
}

/// Ranks whose step takes 1 ms, each with a loader: four samples a batch that take `decode` each.
Scenario loading(int ranks, int workers, Seconds decode, Bytes sample = {}) {
  auto scenario = sharded_ring(ranks, blocks_of_layers(1, 0.4_ms, 0.6_ms, 0), NoExchange{});
  scenario.job.batch_per_gpu = 4;
  scenario.job.input.loader_workers = workers;
  scenario.job.input.worker_start = {};
  Dataset dataset;
  dataset.samples = 1e6;
  dataset.sample_size = sample;
  dataset.cpu.decode = decode;
  scenario.job.input.dataset = dataset;
  return scenario;
}

double step_ms(const Scenario& scenario, const char* engine, FoldRanks fold = FoldRanks::yes) {
  return simulate(scenario, engine, fold).measured.metrics.step_time.value() * 1e3;
}

}  // namespace

TEST_CASE("batches arrive in the order of PyTorch's DataLoader", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  // Vectors of the recurrence by hand: one slow worker holds back those that are ready; four workers hide a
  // batch that takes two steps; two do not, and batches come in pairs.
  check_near(taken(2, 2, {3, 1, 1, 1, 3, 1, 1, 1}, 1, engine), {3, 4, 5, 6, 7, 8, 9, 10});
  check_near(taken(4, 2, std::vector<double>(10, 2), 1, engine), {2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  check_near(taken(2, 2, std::vector<double>(10, 4), 1, engine), {4, 5, 8, 9, 12, 13, 16, 17, 20, 21});
}

TEST_CASE("batches of any length follow the recurrence", "[analytic]") {
  std::vector<double> made_in;
  for (int i = 0; i < 60; ++i) made_in.push_back(0.1 + (i * 37 % 23) * 0.2);
  for (const int workers : {1, 3, 8}) {
    for (const int prefetch : {1, 2, 4})
      check_near(taken(workers, prefetch, made_in, 1, "fluid"), by_recurrence(workers, prefetch, made_in, 1));
  }
}

TEST_CASE("a step takes as long as the slower of training and loading", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const auto workers = GENERATE(1, 2, 3, 8);
  CAPTURE(engine, workers);
  // Four samples of 0.75 ms: 3 ms a batch.
  CHECK(step_ms(loading(1, workers, 0.75_ms), engine) ==
        Approx(std::max(1.0, 3.0 / workers)).epsilon(tolerance::closed_form));
  const auto metrics = simulate(loading(1, workers, 0.75_ms), engine).measured.metrics;
  CHECK(metrics.input_wait.value() * 1e3 == Approx(std::max(0.0, 3.0 / workers - 1)).margin(1e-6));
}

TEST_CASE("without workers the training process makes its batches between two steps", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  CHECK(step_ms(loading(1, 0, 0.75_ms), engine) == Approx(1 + 3).epsilon(tolerance::closed_form));
}

TEST_CASE("the first batch takes as long as all first batches, because all workers read at once",
          "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  // 4 ranks x 8 workers x 4 samples of 1 MB at 4 GB/s.
  auto scenario = loading(4, 8, {}, 1_MB);
  scenario.platform = with_loading(scenario.platform, StorageRates{.all = BytesPerSecond{4e9}}, {}, {});
  const auto loading = simulate(scenario, engine).measured.metrics.loading;
  CHECK(loading->first_batch.value() * 1e3 == Approx(4 * 8 * 4 * 1e6 / 4e9 * 1e3).epsilon(1e-9));
  CHECK(loading->read.value() == Approx(4 * 4 * 1e6));
  CHECK(loading->storage_busy.value() == Approx(1).epsilon(tolerance::closed_form));
}

TEST_CASE("without workers the first batch is delayed by its loading", "[analytic]") {
  const auto loading_of_none = simulate(loading(1, 0, 0.75_ms), "fluid").measured.metrics.loading;
  CHECK(loading_of_none->first_batch.value() * 1e3 == Approx(3).epsilon(1e-9));
}

TEST_CASE("storage serves compressed samples that are not cached", "[analytic]") {
  auto scenario = loading(1, 4, {}, 1_MB);
  auto& input = scenario.job.input;
  input.dataset->samples = 1000;
  input.storage.emplace().read = BytesPerSecond{1e9};
  const auto read = [&] { return simulate(scenario, "fluid").measured.metrics.loading->read.value(); };
  CHECK(read() == Approx(4e6));
  input.cache.emplace().size = 250_MB;
  CHECK(read() == Approx(3e6));
  input.codec = Codec{"half", 2, BytesPerSecond{1e12}};  // twice as many samples fit
  CHECK(read() == Approx(1e6));
  input.first_epoch = true;
  CHECK(read() == Approx(2e6));
  input.dataset->compressible = false;
  CHECK(read() == Approx(4e6));
}

namespace {

/// A rank that only wants batches, each after a second, from workers that read them in one second times `use`
/// and the number of workers, on average and exponentially distributed.
Seconds step_of_random_reads(int workers, int prefetch, double use) {
  auto scenario = sharded_ring(1, blocks_of_layers(1, Seconds{1}, Seconds{}, 0), NoExchange{});
  auto& input = scenario.job.input;
  scenario.job.batch_per_gpu = 1;
  input.loader_workers = workers;
  input.prefetch_factor = prefetch;
  input.epoch_steps = 20000;
  input.dataset.emplace().samples = 1e6;
  input.dataset->sample_size = 1_MB;
  auto& tier = input.storage.emplace();
  tier.read = BytesPerSecond{1e15};
  tier.first_byte = Seconds{use * workers};
  tier.first_byte_spread = 1;
  return simulate(scenario, "fluid").measured.metrics.step_time;
}

}  // namespace

TEST_CASE("batch k is made by worker k mod W, so batches of random length make a loader lose", "[analytic]") {
  // Steps of the recurrence over 40,000 batches, in a simulation of its own: without stealing, more prefetch
  // helps.
  struct Row {
    int workers, prefetch;
    double use, step;
  };
  const auto row = GENERATE(values<Row>({{4, 1, 1.0, 1.96},
                                         {4, 2, 1.0, 1.53},
                                         {4, 4, 1.0, 1.27},
                                         {4, 8, 1.0, 1.15},
                                         {8, 2, 1.0, 1.74},
                                         {4, 1, 0.8, 1.65},
                                         {4, 2, 0.8, 1.29},
                                         {4, 4, 0.8, 1.09},
                                         {4, 8, 0.8, 1.02},
                                         {8, 2, 0.8, 1.44}}));
  CAPTURE(row.workers, row.prefetch, row.use);
  CHECK(step_of_random_reads(row.workers, row.prefetch, row.use).value() == Approx(row.step).epsilon(0.02));
}

TEST_CASE("a whole epoch is simulated without loading its prefetched batches again", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const auto steps = GENERATE(2, 5, 40);
  CAPTURE(engine, steps);
  // Batches of 4 x 0.75 ms by two workers, two ahead each, for steps of 1 ms.
  auto scenario = loading(1, 2, 0.75_ms);
  scenario.job.input.epoch_steps = steps;
  const auto ends = by_recurrence(2, 2, std::vector<double>(static_cast<std::size_t>(steps), 3), 1);
  const auto metrics = simulate(scenario, engine).measured.metrics;
  CHECK(metrics.step_time.value() * 1e3 == Approx((ends.back() - ends.front()) / (steps - 1)).epsilon(1e-9));
  CHECK(metrics.loading->first_batch.value() * 1e3 == Approx(3).epsilon(1e-9));
}

namespace {

/// Batches of 3 ms by two workers, two ahead each; 5 ms to start a worker. By the recurrence: until the end
/// of the last of so many steps.
double epoch_ms(int steps, double work, double start) {
  const auto taken = by_recurrence(2, 2, std::vector<double>(static_cast<std::size_t>(steps), 3), work);
  return start + taken.back() + work;
}

}  // namespace

TEST_CASE("an epoch starts its workers unless they are persistent, and fills its queues", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const auto work = GENERATE(1.0, 2.0);  // waits for the loader, or it for the step
  const auto whole = GENERATE(true, false);
  CAPTURE(engine, work, whole);
  constexpr int steps = 40;
  auto scenario = loading(1, 2, 0.75_ms);
  scenario.model.layers = blocks_of_layers(1, Seconds{0.4e-3 * work}, Seconds{0.6e-3 * work}, 0);
  auto& input = scenario.job.input;
  input.dataset->samples = 4 * steps;
  if (whole) input.epoch_steps = steps;
  input.worker_start = 5_ms;
  const auto epoch = [&] {
    const auto metrics = simulate(scenario, engine).measured.metrics;
    CHECK(metrics.loading->epoch_steps == steps);
    CHECK(metrics.loading->first_batch.value() * 1e3 ==
          Approx(3 + start_of_workers(scenario.job.input).value() * 1e3).epsilon(1e-9));
    return epoch_time(metrics, *metrics.loading).value() * 1e3;
  };
  CHECK(epoch() == Approx(epoch_ms(steps, work, 2 * 5)).epsilon(1e-9));
  input.persistent_workers = true;
  CHECK(epoch() == Approx(epoch_ms(steps, work, 0)).epsilon(1e-9));
  input.first_epoch = true;
  CHECK(epoch() == Approx(epoch_ms(steps, work, 2 * 5)).epsilon(1e-9));
}

TEST_CASE("without workers an epoch takes the time of its steps", "[analytic]") {
  const auto metrics = simulate(loading(1, 0, 0.75_ms), "fluid").measured.metrics;
  CHECK(metrics.loading->epoch_start == Seconds{});
  CHECK(metrics.loading->epoch_steps == 250'000);
}

TEST_CASE("an epoch reads every batch once, so storage that is full is hidden in its first one",
          "[analytic]") {
  // 20 steps of 4 ranks x 4 samples of 1 MB at 4 GB/s, 1 ms of work each. Eight batches of each rank are read
  // side by side, in 32 ms, twice; then the last four, in 16 ms, and their work comes behind them.
  auto scenario = loading(4, 8, {}, 1_MB);
  scenario.job.input.epoch_steps = 20;
  scenario.platform = with_loading(scenario.platform, StorageRates{.all = BytesPerSecond{4e9}}, {}, {});
  const auto metrics = simulate(scenario, "fluid").measured.metrics;
  CHECK(metrics.step_time.value() * 19 == Approx(80e-3 + 4e-3 - (32e-3 + 1e-3)).epsilon(1e-6));
}

TEST_CASE("random sizes and overheads have the given mean, and both engines draw the same", "[analytic]") {
  auto scenario = loading(2, 4, {}, 1_MB);
  auto& input = scenario.job.input;
  input.dataset->spread = 0.8;
  input.draws_sizes = true;
  input.epoch_steps = 2000;
  scenario.platform = with_loading(scenario.platform, StorageRates{.all = BytesPerSecond{1e9}}, {}, {});
  const auto drawn = simulate(scenario, "fluid").measured.metrics;
  // 8 MB a step at 1 GB/s; 16,000 samples are within 0.8 / 126 of it.
  CHECK(drawn.loading->read.value() == Approx(8e6).epsilon(0.02));
  CHECK(drawn.step_time.value() == Approx(8e-3).epsilon(0.02));
  CHECK(drawn.loading->read.value() != 8e6);
  input.epoch_steps = 60;
  CHECK(simulate(scenario, "fluid").measured.metrics.step_time.value() ==
        Approx(simulate(scenario, "simgrid").measured.metrics.step_time.value()).epsilon(1e-9));
  // An overhead alone: a rank waits for its own; two that meet in every step would wait for the longer one.
  scenario = loading(1, 4, {});
  scenario.job.input.batch_overhead = 1_ms;
  scenario.job.input.batch_overhead_spread = 1;
  scenario.job.input.epoch_steps = 4000;
  CHECK(step_ms(scenario, "fluid") == Approx(1 + 1).epsilon(0.03));
}

TEST_CASE("ranks with different batches do not represent each other", "[analytic]") {
  auto scenario = loading(3, 2, 0.75_ms, 1_MB);
  scenario.job.input.dataset->spread = 0.5;
  CHECK(simulate(scenario, "fluid").folding.simulated_ranks() == 1);
  scenario.job.input.draws_sizes = true;
  CHECK(simulate(scenario, "fluid").folding.simulated_ranks() == 3);
}

TEST_CASE("all loaders share the storage, and loaders of a node share its cores", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const auto fold = GENERATE(FoldRanks::yes, FoldRanks::no);
  // 4 ranks x 4 samples of 1 MB at 4 GB/s: 4 ms.
  auto scenario = loading(4, 8, {}, 1_MB);
  scenario.platform = with_loading(scenario.platform, StorageRates{.all = BytesPerSecond{4e9}}, {}, 0);
  CHECK(step_ms(scenario, engine, fold) == Approx(4).epsilon(tolerance::closed_form));
  // Three cores for 20 workers that need 4 ms of one for a batch.
  scenario = loading(4, 5, 1_ms);
  scenario.platform = with_loading(scenario.platform, {}, {}, 3.0);
  CHECK(step_ms(scenario, engine, fold) == Approx(4 * 4.0 / 3).epsilon(tolerance::closed_form));
}

TEST_CASE("a loader reads the given columns, one chunk of a row group per request", "[analytic]") {
  auto scenario = loading(1, 2, {});
  scenario.job.batch_per_gpu = 10;
  auto& input = scenario.job.input;
  Dataset dataset;
  dataset.format = SampleFormat::parquet;
  dataset.samples = 1000;
  dataset.row_group = 100;
  dataset.compressible = false;
  const Column image{.name = "image", .size = Bytes{50e3}, .unpacked = Bytes{50e3}};
  const Column words{.name = "words",
                     .size = Bytes{10e3},
                     .unpacked = Bytes{40e3},
                     .codec = Codec{"c", 4, BytesPerSecond{1e9}}};
  input.storage.emplace().read = BytesPerSecond{1e9};
  input.storage->first_byte = 10_ms;
  input.dataset = with_columns(dataset, {image, words});
  auto cost = *batch_cost(scenario);
  CHECK(cost.stored.bytes.value() == Approx(10 * 60e3));
  // Two chunks for 100 rows: 0.2 requests for 10.
  CHECK(cost.stored.latency.value() == Approx(0.2 * 10e-3));
  CHECK(cost.core.value() == Approx(10 * 40e3 / 1e9));
  input.dataset = with_columns(dataset, {image});
  cost = *batch_cost(scenario);
  CHECK(cost.stored.bytes.value() == Approx(10 * 50e3));
  CHECK(cost.stored.latency.value() == Approx(0.1 * 10e-3));
  CHECK(cost.core == Seconds{});
}

namespace {

/// Two nodes of one GPU and one card of 12.5 GB/s each, which all-reduce 25 MB a step over them (2 ms) after
/// `work`, and read batches of `batch` bytes over the same cards by two workers.
Scenario over_nics(Seconds work, Bytes batch) {
  auto scenario = loading(2, 2, {});
  scenario.platform = built_platform(nvswitch_node(1), 2, star_fabric());
  scenario.platform.collectives = CollectiveRules::ideal;
  scenario.platform.gpu_models.front().ideal = true;
  scenario.model.layers = blocks_of_layers(1, work, Seconds{}, 6250);  // parameters of 25 MB
  scenario.job.strategy = Ddp{};
  auto& input = scenario.job.input;
  input.dataset->sample_size = batch / 4;
  input.storage.emplace().kind = StorageTier::Kind::parallel_file_system;
  input.storage->read = BytesPerSecond{1e15};
  input.shares_network = true;
  return scenario;
}

Metrics metrics_of(Scenario scenario, const char* engine, FoldRanks fold = FoldRanks::yes) {
  scenario.platform = with_loaders(std::move(scenario.platform), scenario.job);
  return simulate(std::move(scenario), engine, fold).measured.metrics;
}

constexpr double card = 12.5e9;
constexpr double sent = 25e6;  // 2 (n - 1) / n of the gradients

}  // namespace

TEST_CASE("a NIC that carries an all-reduce and samples needs the time of both", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const auto fold = GENERATE(FoldRanks::yes, FoldRanks::no);
  const auto batch = GENERATE(10e6, 50e6, 100e6);
  CAPTURE(engine, batch);
  // Work of 1 ms hides 12.5 MB of samples. Beyond that the card is never idle.
  const auto metrics = metrics_of(over_nics(1_ms, Bytes{batch}), engine, fold);
  CHECK(metrics.step_time.value() ==
        Approx(std::max(1e-3 + sent / card, (sent + batch) / card)).epsilon(1e-6));
  // Storage with its own NICs delays nothing.
  auto own = over_nics(1_ms, Bytes{batch});
  own.job.input.shares_network = false;
  CHECK(metrics_of(own, engine, fold).step_time.value() == Approx(1e-3 + sent / card).epsilon(1e-6));
}

TEST_CASE("the storage weight shares a NIC between reading workers and a collective", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const auto weight = GENERATE(0.25, 1.0, 3.0);
  CAPTURE(engine, weight);
  // Both workers always read: the all-reduce has one part of 1 + 2 weight.
  auto scenario = over_nics(1_us, 200_MB);
  scenario.job.input.storage_weight = weight;
  const auto metrics = metrics_of(scenario, engine);
  CHECK(metrics.communication.value() == Approx(sent / card * (1 + 2 * weight)).epsilon(1e-6));
  CHECK(metrics.step_time.value() == Approx((sent + 200e6) / card).epsilon(1e-6));
}

TEST_CASE("storage inside the node uses no NIC", "[analytic]") {
  auto scenario = over_nics(1_ms, 100_MB);
  scenario.job.input.storage->kind = StorageTier::Kind::local_drive;
  CHECK(metrics_of(scenario, "fluid").step_time.value() == Approx(1e-3 + sent / card).epsilon(1e-6));
}

TEST_CASE("ranks whose NICs carry different loads are folded without a difference", "[analytic]") {
  auto scenario = over_nics(1_ms, 30_MB);
  scenario.platform = built_platform(nvswitch_node(2), 2, star_fabric());
  scenario.platform.collectives = CollectiveRules::ideal;
  scenario.platform.gpu_models.front().ideal = true;
  scenario.job.gpus = 4;
  scenario.job.input.storage_weight = 0.4;
  const auto folded = metrics_of(scenario, "fluid", FoldRanks::yes);
  const auto all = metrics_of(scenario, "fluid", FoldRanks::no);
  CHECK(folded.step_time.value() == Approx(all.step_time.value()).epsilon(1e-9));
  CHECK(folded.communication.value() == Approx(all.communication.value()).epsilon(1e-9));
}
