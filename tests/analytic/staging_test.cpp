// SPDX-License-Identifier: Apache-2.0
// Staging of a dataset, prefetch into caches, and the places of compression and deduplication follow closed
// formulas.
#include <catch2/catch.hpp>

#include <cmath>
#include <utility>

#include "sim/plan/input/loader.hpp"
#include "sim/run/simulate.hpp"
#include "sim/scenario/shared_by_loaders.hpp"
#include "sim/scenario/stage_in.hpp"
#include "sim/study/staging/ways_in.hpp"
#include "tests/support/sharded.hpp"
#include "tests/support/tolerances.hpp"
#include "tests/support/workloads.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

StorageTier tier(StorageTier::Kind kind, BytesPerSecond read) {
  StorageTier one;
  one.kind = kind;
  one.read = read;
  return one;
}

/// One rank whose step takes 1 ms and four samples of 1 MB, of 4,000 in an epoch: an epoch takes 1 s.
Scenario staged(BytesPerSecond cold, BytesPerSecond hot_write, StageIn when = StageIn::before) {
  auto scenario = sharded_ring(1, blocks_of_layers(1, 0.4_ms, 0.6_ms, 0), NoExchange{});
  scenario.job.batch_per_gpu = 4;
  auto& input = scenario.job.input;
  input.loader_workers = 4;
  input.worker_start = {};
  input.dataset.emplace().samples = 4000;
  input.dataset->sample_size = 1_MB;
  input.staged_from = tier(StorageTier::Kind::object_store, cold);
  input.storage = tier(StorageTier::Kind::parallel_file_system, BytesPerSecond{1e15});
  input.storage->write = hot_write;
  input.stage_in = when;
  return scenario;
}

Seconds step_of(Scenario scenario) {
  scenario.platform = with_loaders(std::move(scenario.platform), scenario.job);
  return simulate(scenario, "fluid").measured.metrics.step_time;
}

StageInCopy copy_of(const Scenario& scenario) {
  return *stage_in_copy(scenario.job, scenario.platform);
}

}  // namespace

TEST_CASE("the slowest of reading, requests, streams and writing bounds staging", "[analytic][staging]") {
  auto scenario = staged(BytesPerSecond{8e9}, BytesPerSecond{2e9});
  const auto check = [&](StageInLimit limit, double rate) {
    const auto copy = copy_of(scenario);
    CHECK(copy.limit == limit);
    CHECK(copy.rate.value() == Approx(rate));
    CHECK(copy.time().value() == Approx(copy.bytes.value() / rate));
  };
  check(StageInLimit::hot_write, 2e9);
  auto& input = scenario.job.input;
  input.storage->write = BytesPerSecond{20e9};
  check(StageInLimit::cold_read, 8e9);
  input.staged_from->requests_per_second = 5000;
  check(StageInLimit::requests, 5000 * 1e6);
  // A request of 1 MB: 18 ms to its first byte, 10 ms at 100 MB/s, and 2 ms until it is written.
  input.staged_from->first_byte = 18_ms;
  input.staged_from->per_connection = BytesPerSecond{100e6};
  input.storage->first_byte = 2_ms;
  input.copy_streams = 12;
  check(StageInLimit::streams, 12 * 1e6 / 30e-3);
}

TEST_CASE("a drive of each node receives the whole dataset, a shared tier one copy", "[analytic][staging]") {
  auto scenario = staged(BytesPerSecond{8e9}, BytesPerSecond{2e9});
  scenario.platform = ring_platform(4, 50_GBps, Seconds{});
  scenario.platform.nodes = 4;
  scenario.job.gpus = 4;
  CHECK(copy_of(scenario).bytes.value() == Approx(4e9));
  CHECK(copy_of(scenario).hot_write.value() == Approx(2e9));
  scenario.job.input.storage->kind = StorageTier::Kind::local_drive;
  CHECK(copy_of(scenario).bytes.value() == Approx(16e9));
  CHECK(copy_of(scenario).hot_write.value() == Approx(8e9));
}

TEST_CASE("a staged dataset costs its requests, its egress and its writes", "[analytic][staging]") {
  auto scenario = staged(BytesPerSecond{8e9}, BytesPerSecond{2e9});
  auto& input = scenario.job.input;
  input.staged_from->price = {.as_of = "2026-11-01", .usd_per_million_requests = 0.4, .usd_per_gb_out = 0.09};
  input.storage->price = {.as_of = "2026-11-01", .usd_per_million_writes = 5.0, .usd_per_gb_in = 0.01};
  const auto copy = copy_of(scenario);
  CHECK(copy.usd_requests == Approx(4000e-6 * 0.4));
  CHECK(copy.usd_egress == Approx(4 * 0.09));
  CHECK(copy.usd_writes == Approx(4000e-6 * 5 + 4 * 0.01));
}

TEST_CASE("what a compute-bound job reads from the cold tier meanwhile follows from the length of its epoch",
          "[analytic][staging]") {
  const double epochs = GENERATE(0.25, 2.0, 8.0);  // that fit into the staging
  const auto ways =
      *ways_in(staged(BytesPerSecond{1e15}, BytesPerSecond{4e9 / epochs}, StageIn::during), "fluid", 1);
  // The copy skips what was read, so the unstaged share of the rest falls at 1 / (Ts (1 - p)).
  const double a = 1 / epochs;
  CHECK(ways.copy.time().value() == Approx(epochs));
  CHECK(ways.cold_reads == Approx(1 - a * (1 - std::exp(-1 / a))).epsilon(1e-3));
  CHECK(ways.staged.value() == Approx(1 - std::exp(-epochs)).epsilon(2e-3));
  CHECK(ways.during.first_epoch.value() == Approx(1).epsilon(2e-3));
  CHECK(ways.before.time_of(1).value() == Approx(epochs + 1).epsilon(2e-3));
}

TEST_CASE("the copy and the loaders each get half of a cold tier that is too slow for both",
          "[analytic][staging]") {
  auto scenario = staged(BytesPerSecond{4e9}, BytesPerSecond{1e15}, StageIn::during);
  scenario.job.input.first_epoch = true;
  CHECK(step_of(scenario).value() * 1e3 == Approx(4e6 / 2e9 * 1e3).epsilon(tolerance::closed_form));
  scenario.job.input.unstaged = 0.25;
  CHECK(step_of(scenario).value() * 1e3 == Approx(1).epsilon(tolerance::closed_form));
  scenario.job.input.unstaged = 0;
  CHECK(step_of(scenario).value() * 1e3 == Approx(1).epsilon(tolerance::closed_form));
}

TEST_CASE("staging pays after as many epochs as its time holds gains of an epoch", "[analytic][staging]") {
  // Directly from the cold tier a step takes 4 MB / 1 GB/s = 4 ms, an epoch 4 s instead of 1 s. Copying takes
  // 4 s.
  const auto ways = *ways_in(staged(BytesPerSecond{1e9}, BytesPerSecond{1e15}), "fluid", 1);
  CHECK(ways.copy.time().value() == Approx(4));
  CHECK(ways.direct.later_epoch.value() == Approx(4).epsilon(1e-2));
  CHECK(ways.before.later_epoch.value() == Approx(1).epsilon(1e-2));
  // 4 + E < 4 E from the second epoch on.
  CHECK(epochs_until_faster(ways.before, ways.direct) == 2);
  CHECK(epochs_until_faster(ways.direct, ways.before) == 1);
  WayIn slow = ways.before;
  slow.later_epoch = Seconds{5};
  slow.first_epoch = Seconds{5};
  CHECK_FALSE(epochs_until_faster(slow, ways.direct));
}

TEST_CASE("a prefetcher hides the latency of requests and is bound by their rate", "[analytic][staging]") {
  auto scenario = staged(BytesPerSecond{1e9}, BytesPerSecond{1e9});
  auto& input = scenario.job.input;
  input.staged_from.reset();
  input.storage->first_byte = 10_ms;
  input.cache.emplace().size = 2_GB;  // half of the samples
  input.first_epoch = true;
  // Four workers, each of which waits four times 10 ms for a batch.
  CHECK(step_of(scenario).value() * 1e3 == Approx(10).epsilon(1e-6));
  input.cache_prefetch = true;
  // 20 requests in flight: 2 GB/s.
  input.copy_streams = 20;
  CHECK(step_of(scenario).value() * 1e3 == Approx(2).epsilon(tolerance::closed_form));
  input.first_epoch = false;
  CHECK(step_of(scenario).value() * 1e3 == Approx(1).epsilon(tolerance::closed_form));
  // Storage that reads 1 GB/s is the limit then.
  input.storage->read = BytesPerSecond{1e9};
  CHECK(step_of(scenario).value() * 1e3 == Approx(2).epsilon(tolerance::closed_form));
}

TEST_CASE("a prefetcher writes what it reads to the drive from which workers read", "[analytic][staging]") {
  auto scenario = staged(BytesPerSecond{1e9}, BytesPerSecond{1e9});
  auto& input = scenario.job.input;
  input.staged_from.reset();
  input.cache.emplace().size = 2_GB;
  input.cache->tier = tier(StorageTier::Kind::local_drive, BytesPerSecond{3e9});
  input.cache_prefetch = true;
  // 2 MB of a batch are written and 4 MB are read.
  CHECK(step_of(scenario).value() * 1e3 == Approx(6e6 / 3e9 * 1e3).epsilon(tolerance::closed_form));
}

TEST_CASE("samples are compressed where the codec is", "[analytic][staging]") {
  auto scenario = staged(BytesPerSecond{1e9}, BytesPerSecond{1e9});
  auto& input = scenario.job.input;
  input.cache.emplace().size = 1_GB;
  input.codec = Codec{"half", 2, BytesPerSecond{1e9}, BytesPerSecond{0.5e9}};
  const auto check = [&](CodecPlace place, double kept, double sent, double cached, double hits,
                         double core) {
    input.codec_in = place;
    const auto stored = stored_samples(input);
    CHECK(stored.kept.value() == Approx(kept * 1e6));
    CHECK(stored.size.value() == Approx(sent * 1e6));
    CHECK(stored.in_cache.value() == Approx(cached * 1e6));
    CHECK(stored.hits == Approx(hits));
    CHECK(stored.core.value() * 1e3 == Approx(core).margin(1e-12));
  };
  check(CodecPlace::everywhere, 0.5, 0.5, 0.5, 0.5, 1);
  check(CodecPlace::store_and_network, 0.5, 0.5, 1, 0.25, 0.75);
  check(CodecPlace::store, 0.5, 1, 1, 0.25, 0);
  check(CodecPlace::network, 1, 0.5, 1, 0.25, 0.75);
  // Half is compressed at 0.5 GB/s, half decompressed at 1 GB/s.
  check(CodecPlace::cache, 1, 1, 0.5, 0.5, 0.5 * 2 + 0.5 * 1);
}

TEST_CASE("duplicates are kept or sent once where deduplication is", "[analytic][staging]") {
  auto scenario = staged(BytesPerSecond{1e9}, BytesPerSecond{1e9});
  auto& input = scenario.job.input;
  input.dataset->duplicates = 0.5;
  input.cache.emplace().size = 1_GB;
  const auto check = [&](DedupPlace place, double kept, double hits, double first_hits, double copied) {
    input.dedup = place;
    input.first_epoch = false;
    const auto stored = stored_samples(input);
    CHECK(stored.kept.value() == Approx(kept * 1e6));
    CHECK(stored.hits == Approx(hits));
    const auto hashed = place == DedupPlace::cache ? 1e6 * (1 - hits) / hash_rate.value() : 0;
    CHECK(stored.core.value() == Approx(hashed).margin(1e-15));
    CHECK(copy_of(scenario).bytes.value() == Approx(copied * 4e9));
    input.first_epoch = true;
    CHECK(stored_samples(input).hits == Approx(first_hits).margin(1e-12));
  };
  check(DedupPlace::none, 1, 0.25, 0, 1);
  check(DedupPlace::store, 0.5, 0.25, 0, 1);
  check(DedupPlace::cache, 0.5, 0.5, 0, 1);
  check(DedupPlace::network, 0.5, 0.5, 0.5 * 0.5, 0.5);
}
