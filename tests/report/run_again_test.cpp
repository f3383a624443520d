// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sim/config/config.hpp"
#include "sim/report/run/json.hpp"
#include "sim/run/simulate.hpp"

using namespace gradway;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};

}  // namespace

TEST_CASE("a report repeats traffic, what-if and anchor of its scenario, so that it can be run again",
          "[report][json]") {
  const std::vector<Override> set{
      {"traffic", "[{ from: cpu0, to: gpu1, rate: 1 GB/s, weight: 2 }]"},
      {"faster", "{ host_memory: 1.7, gpu: 0.3 }"},
      {"campaign",
       "{ epochs: 90, samples_per_epoch: 1281167, checkpoint: { interval: 30 min, mode: async, sharded: "
       "false, size: 2 "
       "GB, write: 1 GB/s, read: 2 GB/s, per_rank: 500 MB/s, device_copy: 10 GB/s, overhead: 250 ms, "
       "slowdown: 1.05 }, "
       "restart: { detection: 0 s, requeue: 1 h }, failures: { model: rsc-1, job_mttf: 2 days, again: 5 % }, "
       "spot: { "
       "model: aws-v100-2023, node_up: 5 h, node_down: 1 h, group: 2, notice: 30 s }, stragglers: { "
       "node_every: 9 "
       "days, slowdown: 1.2, lasts: 1 h, jitter: 0.5 % }, evaluation: { every: 500, time: 3 min }, spares: "
       "1, repair: 2 "
       "days, elastic_from: 4, terms: spot, prices: { on_demand: 30 USD/h, spot: 11 USD/h }, carbon: { grid: "
       "380 g/kWh, "
       "node_power: 5 kW, pue: 1.3 }, phases: [{ until: 60M, set: { input.prefetch_factor: 2 } }, { from: 8, "
       "to: 18.5, set: { optimizer: sgd, input.storage_weight: 0.1 } }], adapt: { exposed: 7 %, largest: "
       "4096 "
       "}, storage: { tiers: [aws-efs], load: 70 %, delay: 1 h, cool_down: 6 h }, convergence: { "
       "critical_batch: 8192, at_batch: 1024, more_steps: 1.1 }, seed: 7 }"},
      {"input",
       "{ loader_workers: 3, prefetch_factor: 4, persistent_workers: true, storage_network: shared, "
       "storage_weight: 0.3, worker_start: 70 ms, epoch: "
       "first, "
       "codec: lz4, codec_in: store, dedup: store, staged_from: s3-standard, stage_in: during, copy_streams: "
       "20, "
       "decode: gpu, cache: page_cache, cache_size: 5 "
       "GB, sample_sizes: drawn, batch_overhead: 2 ms, batch_overhead_spread: 0.5, epoch_steps: 12, "
       "background_copy: 20 MB, background_start: step, "
       "cache_policy: lru, dataset: { samples: 90000, sample_size: 200 kB, format: shards, request: 8 MiB, "
       "delivered: 600 kB, spread: 0.1, duplicates: 0.2, cpu: { decode: 3 ms, transform: 1 ms, collate: 0.3 "
       "ms, error: 0.03 "
       "}, gpu_decode: "
       "40 "
       "us }, "
       "storage: { kind: nfs, read: 900 MB/s, error: 0.2, per_node: 500 MB/s, per_connection: 90 MB/s, "
       "first_byte: 2 ms, "
       "first_byte_spread: 0.4, "
       "requests_per_second: 700, burst: { credit: 1 TB, sustained: 300 MB/s }, price: { as_of: 2026-11-01, "
       "usd_per_gb_month: 0.1, usd_per_million_writes: 5, usd_per_gb_in: 0.01 } } }"},
      {"anchor",
       "{ gpu: l40s, precision: fp32, batch: 32, optimizer: sgd, step_time: 111.5 ms, source: us }"}};
  const auto first = simulate(load_scenario("article/g6e", set, data));
  std::ostringstream text;
  report::write_json(text, first, "");
  const auto scenario = nlohmann::json::parse(text.str())["scenario"];
  std::vector<Override> again;
  for (const auto* key : {"traffic", "faster", "campaign", "input", "anchor"})
    again.push_back({key, scenario[key].dump()});
  const auto second = simulate(load_scenario("article/g6e", again, data));
  std::ostringstream repeated;
  report::write_json(repeated, second, "");
  CHECK(nlohmann::json::parse(repeated.str())["scenario"]["campaign"] == scenario["campaign"]);
  CHECK(nlohmann::json::parse(repeated.str())["scenario"]["input"] == scenario["input"]);
  CHECK(second.measured.metrics.step_time == first.measured.metrics.step_time);
  CHECK(first.measured.metrics.step_time !=
        simulate(load_scenario("article/g6e", {}, data)).measured.metrics.step_time);
}

TEST_CASE("a report repeats when copies start", "[report][json]") {
  const auto scenario_of = [](const std::string& input) {
    std::ostringstream text;
    report::write_json(text, simulate(load_scenario("article/g6e", {{"input", input}}, data)), "");
    return nlohmann::json::parse(text.str())["scenario"]["input"];
  };
  const auto input = scenario_of("{ prefetch: forward, background_copy: 1 MB, background_start: step }");
  CHECK(input["prefetch"] == "forward");
  CHECK(scenario_of(input.dump()) == input);
}

TEST_CASE("a report repeats the settings of local SGD", "[report][json]") {
  const auto strategy = GENERATE(
      "{ kind: local_sgd, inner: ddp, comm_hook: fp16, workers: 6, inner_steps: 60, outer_optimizer: sgd, "
      "exchanged: "
      "int8, top_k: 5 %, fragments: 4, overlap_steps: 10, data: 3 TB, wan: { rate: 1 GB/s, rtt: 70 ms, "
      "window: 16 MB, "
      "loss: 0.01 %, streams: 4, egress: 0.02 USD/GB } }",
      "{ kind: local_sgd, inner: ddp, inner_steps: 7, exchanged: bf16, clients: { target: 3, asked: 5, "
      "drop_out: 6 %, "
      "deadline: 20 min, least: 2, retry: 2 min, egress: 0.09 USD/GB, classes: [{ name: a, count: 4, down: 5 "
      "MB/s, up: 1 "
      "MB/s, rtt: 20 ms, available: 70 %, slowdown: 3, spread: 20 %, price: 1.5 USD/h, egress: 0.01 USD/GB, "
      "data: 5 GB "
      "}, { name: b, count: 2, down: 5 MB/s, up: 1 MB/s, step: 2 s }, { name: c, count: 2, down: 5 MB/s, up: "
      "1 MB/s, "
      "rate: 3 TFLOP/s }, { name: d, count: 2, down: 5 MB/s, up: 1 MB/s, platform: aws-g5.48xlarge }] } }");
  const auto echoed = [](const std::string& said) {
    const auto run = simulate(load_scenario("article/g6e", {{"strategy", said}}, data));
    std::ostringstream text;
    report::write_json(text, run, "");
    return nlohmann::ordered_json::parse(text.str())["scenario"]["strategy"];
  };
  const auto first = echoed(strategy);
  CHECK(first["kind"] == "local_sgd");
  CHECK(first["inner"] == "ddp");
  CHECK(echoed(first.dump()) == first);
}

TEST_CASE("the columns of a Parquet file are written so that they can be read again", "[report]") {
  const std::vector<Override> set = {{"input",
                                      "{ dataset: { samples: 1000, format: parquet, row_group: 100, columns: "
                                      "[ { name: image, size: 90 kB }, "
                                      "{ name: words, size: 1 kB, unpacked: 4 kB, codec: zstd }, { name: "
                                      "rest, size: 5 kB } ] }, columns: [ words, "
                                      "image ], storage: { read: 1 GB/s, first_byte: 1 ms } }"}};
  const auto told = [](const std::vector<Override>& changes) {
    std::ostringstream text;
    report::write_json(text, simulate(load_scenario("article/g6e", changes, data)), "");
    return nlohmann::json::parse(text.str());
  };
  const auto first = told(set);
  const auto again = told({{"input", first["scenario"]["input"].dump()}});
  CHECK(again["scenario"]["input"] == first["scenario"]["input"]);
  CHECK(again["metrics"] == first["metrics"]);
}
