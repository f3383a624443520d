// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sim/config/config.hpp"
#include "sim/config/find/scenario_keys.hpp"
#include "sim/report/format/scenario_json.hpp"

using namespace gradway;

namespace {

/// What a scenario needs besides so that some keys of its input have an effect.
void add_input(const std::string& key, std::vector<Override>& settings) {
  const auto dataset = [&](const std::string& format) {
    settings.push_back({"input.dataset", "{ samples: 1e6, sample_size: 1 MB, format: " + format + " }"});
  };
  if (key == "input.loader" || key == "input.dedup") dataset("files");
  if (key == "input.csv_parser") dataset("csv");
  if (key == "input.access" || key == "input.read_ahead") dataset("mapped");
  if (key.starts_with("input.predicate."))
    settings.push_back(
        {"input",
         "{ dataset: { samples: 1e6, format: parquet, row_group: 1000, columns: [{ name: a, size: "
         "1 MB }] }, predicate: { selectivity: 0.1 } }"});
}

/// What a campaign needs so that some of its keys have an effect.
std::string campaign_for(const std::string& key) {
  std::string parts;
  if (key.starts_with("campaign.adapt.")) parts = ", adapt: {}";
  if (key.starts_with("campaign.convergence.")) parts = ", convergence: { critical_batch: 1000 }";
  return "{ samples: 1M, checkpoint: { write: 1 GB/s }, failures: { job_mttf: 1 day }, spot: { node_up: 1 "
         "day "
         "}, stragglers: { node_every: 1 day }, spares: 1, carbon: { grid: 1 g/kWh, node_power: 1 kW }" +
         parts + " }";
}

}  // namespace

TEST_CASE("the default in the table of keys is the value without the key", "[report][keys]") {
  const DataPath data{{GRADWAY_SOURCE_DIR}};
  int defaults = 0;
  for (const auto& key : config::described_keys()) {
    if (key.default_text.empty() || !key.is_settable) continue;
    ++defaults;
    CAPTURE(key.name);
    std::vector<Override> bare;
    const std::string kind{key.strategies.empty() ? "" : key.strategies.front()};
    if (!kind.empty()) bare.push_back({"strategy.kind", kind});
    if (kind == "local_sgd" || key.name.starts_with("strategy.wan."))
      bare.push_back({"strategy", "{ kind: local_sgd, wan: { rate: 1 GB/s, rtt: 9 ms } }"});
    if (key.name.starts_with("strategy.clients."))
      bare.push_back({"strategy",
                      "{ kind: local_sgd, clients: { target: 1, classes: [{ name: a, count: 2, up: 1 MB/s, "
                      "down: 1 MB/s }] } }"});
    if (kind == "collective") bare.push_back({"strategy.size", "1 GiB"});
    if (key.meaning.find("with stage 3") != std::string::npos) bare.push_back({"strategy.stage", "3"});
    if (key.name.starts_with("campaign.")) bare.push_back({"campaign", campaign_for(key.name)});
    if (key.name.starts_with("campaign.storage.")) {
      bare.push_back({"input", "{ dataset: imagenet-1k, storage: aws-fsx-lustre-125-4.8tib }"});
      bare.push_back({"campaign.storage", "{ tiers: [aws-fsx-lustre-500-4.8tib], delay: 1 h }"});
    }
    if (key.name == "campaign.checkpoint.weight") {
      bare.push_back({"input", "{ dataset: imagenet-1k, storage: lustre-hpc }"});
      bare.push_back({"campaign.checkpoint", "{ storage: lustre-hpc, mode: async }"});
    }
    if (key.name == "parallel.tables") bare.push_back({"model", "dlrm"});
    add_input(key.name, bare);
    if (key.meaning.starts_with("with storage:"))
      bare.push_back({"campaign.checkpoint", "{ storage: s3-standard }"});
    if (key.meaning.starts_with("with mode async")) bare.push_back({"campaign.checkpoint.mode", "async"});
    auto with_default = bare;
    with_default.push_back({key.name, key.default_text});
    const std::string file = GRADWAY_SOURCE_DIR "/tests/report/bare.yaml";
    CHECK(report::scenario_json(load_scenario(file, with_default, data)) ==
          report::scenario_json(load_scenario(file, bare, data)));
  }
  CHECK(defaults > 10);
}
