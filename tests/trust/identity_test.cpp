// SPDX-License-Identifier: Apache-2.0
// Every key of a scenario takes part in the identity of its job, or is on the list of those that need not.
#include <algorithm>
#include <fstream>
#include <regex>
#include <set>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/config/find/scenario_keys.hpp"
#include "sim/trust/identity.hpp"

using namespace gradway;
using Settings = std::vector<Override>;

namespace {

const DataPath data =
    with_file_cache(DataPath{{GRADWAY_SOURCE_DIR}});  // some thousand scenarios name the same files

/// Jobs among which each key means something.
const std::vector<Settings>& jobs() {
  const auto kind = [](const char* name, const Settings& more = {}) {
    Settings settings{{"strategy.kind", name}};
    settings.insert(settings.end(), more.begin(), more.end());
    return settings;
  };
  const Override fp8{"job.precision", "fp8"};
  const Override twice{"job.accumulate", "2"};
  const Override megatron{"job.framework", "megatron"};
  static const std::vector<Settings> all{
      {},
      {{"model", "resnet50"}},
      {{"strategy.comm_hook", "powersgd"}},
      {{"strategy.zero_redundancy", "true"}, {"optimizer", "adamw"}},
      {{"strategy.kind", "none"}, {"job.gpus", "1"}},
      kind("ddp", {{"job.finetune", "lora"}}),
      kind("ddp", {{"job.finetune", "qlora"}}),
      kind("ddp", {{"job.compile", "true"}}),
      kind("fsdp", {twice, {"job.recompute", "full"}}),
      kind("fsdp", {fp8, {"job.compile", "true"}}),
      kind("fsdp", {{"parallel", "{ tensor: 2, sequence: true }"}, {"job.compile", "true"}}),
      kind("fsdp", {{"parallel", "{ context: 2 }"}}),
      kind("fsdp",
           {{"job.accumulate", "8"}, {"parallel", "{ pipeline: 2, virtual: 2, schedule: interleaved }"}}),
      kind("fsdp1", {twice}),
      kind("zero", {{"strategy.stage", "1"}}),
      kind("zero", {{"strategy.stage", "3"}}),
      kind("zero", {{"strategy.stage", "3"}, {"strategy.offload_optimizer", "true"}}),
      kind("distributed_optimizer", {megatron, {"strategy.overlap_grad_reduce", "true"}}),
      kind("distributed_optimizer", {megatron, fp8}),
      kind("distributed_optimizer", {megatron, {"parallel", "{ tensor: 2 }"}}),
      kind("distributed_optimizer",
           {megatron,
            {"job.accumulate", "8"},
            {"parallel", "{ tensor: 2, sequence: true, pipeline: 2, virtual: 2, schedule: interleaved }"}}),
      kind("distributed_optimizer", {megatron, {"model", "mixtral_8x7b"}, {"parallel", "{ expert: 2 }"}}),
      kind("distributed_optimizer", {megatron, {"model", "mixtral_8x7b"}, {"job.recompute", "selective"}}),
      {{"model", "moe_gpt_0b5"}, {"strategy.kind", "none"}, {"job.gpus", "1"}},
      kind("local_sgd", {{"strategy.wan", "{ rate: 125 MB/s, rtt: 70 ms }"}}),
      {{"model", "vit_b_16"},
       {"input",
        "{ dataset: imagenet-1k, storage: aws-efs, storage_network: shared, cache: page_cache, cache_size: "
        "100 GB, batch_overhead: 1 ms }"}},
      {{"input",
        "{ dataset: { samples: 1000000, sample_size: 100 kB, duplicates: 0.3 }, storage: aws-efs, codec: "
        "zstd, "
        "cache: page_cache, cache_size: 100 GB }"}},
      {{"model", "resnet50"},
       {"input",
        "{ dataset: imagenet-1k, storage: local-nvme, staged_from: aws-efs, stage_in: during, epoch: first, "
        "cache: page_cache, cache_size: 100 GB }"}},
      {{"model", "resnet50"}, {"input", "{ dataset: imagenet-1k-shards, loader: dali, decode: gpu }"}},
      {{"model", "resnet50"},
       {"input", "{ dataset: { samples: 1000000, sample_size: 100 kB, format: csv }, storage: local-nvme }"}},
      {{"model", "resnet50"},
       {"input",
        "{ dataset: { samples: 1000000, format: parquet, row_group: 1000, columns: [{ name: image, size: 20 "
        "kB }] }, storage: local-nvme, predicate: { selectivity: 0.1 } }"}},
      {{"model", "resnet50"},
       {"input",
        "{ dataset: { samples: 1000000, sample_size: 100 kB, format: mapped }, storage: local-nvme }"}},
      {{"model", "dlrm"}},
      {{"platform", "synthetic-pod-1024-full"}, {"job.gpus", "64"}},
      {{"platform", "two-sites-8x-h100"}, {"job.gpus", "16"}},
      {{"platform", "two-sites-8x-h100"}, {"job.gpus", "16"}, {"network", "{ routing: spray, paths: 8 }"}},
      {{"platform", "two-sites-8x-h100"}, {"job.gpus", "16"}, {"network.loss", "0.001 %"}},
      {{"platform", "roce-8x-h100"}, {"job.gpus", "16"}, {"network", "{ loss: 0.001 %, round_trip: 20 us }"}},
      {{"platform", "nvidia-gb200-nvl72"}, {"job.gpus", "64"}},
      {{"input.background_copy", "100 MB"}},
      {{"job.host_reads", "4"}},
      {{"strategy.find_unused_parameters", "true"}},
  };
  return all;
}

std::optional<JobIdentity> identity_with(const Settings& settings) {
  try {
    return identity_of(
        load_scenario(std::string{GRADWAY_SOURCE_DIR} + "/tests/trust/job.yaml", settings, data));
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

/// Values that the description of a key says it takes: its words, the ends of its range, its example.
std::vector<std::string> described_values(const std::string& text) {
  if (text == "true or false") return {"true", "false"};
  std::smatch parts;
  if (std::regex_match(text, parts, std::regex{R"((?:an? [^,]* from )?([-\d.e]+) to ([-\d.e]+)(,.*)?)"}))
    return {parts[1], "2", "4", "16", parts[2]};
  if (const auto at = text.find("such as "); at != std::string::npos)
    return {text.substr(at + 8, text.find_first_of(',', at) - at - 8)};
  std::vector<std::string> words;
  const std::regex word{"[^ ,]+"};
  for (std::sregex_iterator at{text.begin(), text.end(), word}, end; at != end; ++at)
    if (at->str() != "or") words.push_back(at->str());
  return words;
}

/// Values of keys whose description names none but the default.
const std::map<std::string, std::vector<std::string>>& named_values() {
  static const std::map<std::string, std::vector<std::string>> values{
      {"model", {"vit_b_16"}},
      {"job.host_read_size", {"1 MB"}},
      {"platform", {"aws-p5.48xlarge"}},
      {"input.dataset", {"imagenet-1k"}},
      {"input.storage", {"s3-standard"}},
      {"input.staged_from", {"s3-standard"}},
      {"input.read_ahead", {"1 MiB"}},
      {"job.recompute_modules", {"layernorm, moe_act"}},
      {"job.offload_activations", {"all"}},
      {"nccl.NCCL_ALGO", {"Ring"}},
      {"nccl.NCCL_PROTO", {"Simple"}},
      {"parallel.expert_rows", {"[1, 2, 3, 4, 5, 6, 7, 8]"}},
      {"parallel.stage_layout", {"Et*2|t*3|t*3|t*4L", "Et*5|t*6|t*6|t*7L", "Et*7|t*8|t*8|t*9L"}},
      {"parallel.order", {"tp-dp-cp-ep-pp", "dp-tp-cp-ep-pp", "tp-cp-ep-pp-dp", "tp-pp-dp"}},
      {"strategy.reduce_bucket_size", {"1e8"}},
      {"strategy.prefetch_bucket_size", {"1e7"}},
      {"strategy.max_live_parameters", {"2e9"}},
      {"strategy.max_reuse_distance", {"2e9"}},
      {"strategy.param_persistence_threshold", {"1e6"}},
      {"strategy.zero_hpz_partition_size", {"2", "8"}},
  };
  return values;
}

/// The key says so itself, or its group does for all that is in it.
bool is_outside(const config::ScenarioKey& key) {
  return std::ranges::any_of(config::described_keys(), [&](const config::ScenarioKey& row) {
    return !row.outside_identity.empty() &&
           (row.name == key.name || key.name.starts_with(fmt::format("{}.", row.name)));
  });
}

/// What a scenario says of a dataset and its storage in place of names, by key.
using Maps = std::map<std::string, std::map<std::string, std::string>>;
const Maps& figures() {
  static const Maps maps{{"input.dataset", {{"samples", "1000000"}, {"sample_size", "100 kB"}}},
                         {"input.dataset.cpu", {{"decode", "1 ms"}}},
                         {"input.storage", {{"read", "9 GB/s"}, {"first_byte", "20 ms"}}},
                         {"input.storage.burst", {{"credit", "2 TB"}, {"sustained", "200 MB/s"}}},
                         {"input.storage.price", {{"as_of", "2026-11-01"}}}};
  return maps;
}

std::string in_yaml(const Maps& maps, const std::string& group) {
  std::string text;
  for (const auto& [key, value] : maps.at(group)) text += fmt::format("{}: {}, ", key, value);
  for (const auto& [inner, values] : maps) {
    if (inner.starts_with(group + "."))
      text += fmt::format("{}: {}, ", inner.substr(group.size() + 1), in_yaml(maps, inner));
  }
  return fmt::format("{{ {} }}", text);
}

/// A job whose dataset and storage are given by figures, and with one of these changed.
bool figure_takes_part(const config::ScenarioKey& key) {
  const auto identity = [](const Maps& maps) {
    return identity_with({{"model", "vit_b_16"},
                          {"input.dataset", in_yaml(maps, "input.dataset")},
                          {"input.storage", in_yaml(maps, "input.storage")}});
  };
  const auto dot = key.name.rfind('.');
  for (const std::string format : {"files", "shards", "parquet"}) {
    auto maps = figures();
    maps["input.dataset"]["format"] = format;
    if (format == "parquet") {
      maps["input.dataset"].erase("sample_size");
      maps["input.dataset"]["row_group"] = "1000";
      maps["input.dataset"]["columns"] = "[{ name: image, size: 100 kB }]";
    }
    const auto before = identity(maps);
    REQUIRE(before);
    auto values = described_values(key.value());
    if (key.name == "input.dataset.columns") values = {"[{ name: image, size: 90 kB }]"};
    for (const auto& value : values) {
      auto changed = maps;
      changed[key.name.substr(0, dot)][key.name.substr(dot + 1)] = value;
      const auto after = identity(changed);
      if (after && *after != *before) return true;
    }
  }
  return false;
}

/// The valid jobs with their identities, each of which is computed once.
const auto& jobs_with_identity() {
  static const auto all = [] {
    std::vector<std::pair<Settings, JobIdentity>> found;
    for (const auto& job : jobs()) {
      if (const auto identity = identity_with(job)) found.emplace_back(job, *identity);
    }
    return found;
  }();
  return all;
}

bool takes_part(const config::ScenarioKey& key) {
  if (!key.is_settable && key.name.starts_with("input.")) return figure_takes_part(key);
  const auto named = named_values().find(key.name);
  const auto values = named != named_values().end() ? named->second : described_values(key.value());
  for (const auto& [job, before] : jobs_with_identity()) {
    for (const auto& value : values) {
      auto settings = job;
      settings.push_back({key.name, value});
      const auto after = identity_with(settings);
      if (after && *after != before) return true;
    }
  }
  return false;
}

}  // namespace

TEST_CASE("each key changes the identity of a job, or is on the list of those that need not",
          "[trust][identity]") {
  // Groups count by what is in them; lists of maps and keys that no --set takes are told below.
  const std::set<std::string> elsewhere{"job",
                                        "strategy",
                                        "parallel",
                                        "input",
                                        "nccl",
                                        "network",
                                        "traffic",
                                        "input.predicate",
                                        "input.columns",
                                        "strategy.operation",
                                        "strategy.timed",
                                        "strategy.size",
                                        "input.dataset.cpu",
                                        "input.storage.burst",
                                        "input.storage.price"};
  for (const auto& key : config::described_keys()) {
    if (elsewhere.contains(key.name) || key.name.starts_with("traffic.")) continue;
    CAPTURE(key.name, key.help());
    CHECK(takes_part(key) != is_outside(key));
  }
}

TEST_CASE("a collective alone, a neighbour's traffic and columns take part in the identity",
          "[trust][identity]") {
  const Settings call{{"strategy.size", "1 GiB"}};
  const auto of_call = [&](const Settings& more) {
    auto settings = call;
    settings.insert(settings.end(), more.begin(), more.end());
    return identity_of(load_scenario("published/all-reduce", settings, data));
  };
  CHECK(of_call({}) == of_call({}));
  CHECK(of_call({{"strategy.size", "2 GiB"}}) != of_call({}));
  CHECK(of_call({{"strategy.operation", "all_gather"}}) != of_call({}));
  CHECK(of_call({{"strategy.timed", "one_by_one"}}) != of_call({}));
  auto scenario = load_scenario("article/p4d", {}, data);
  const auto before = identity_of(scenario);
  scenario.job.traffic.push_back({"a", "b", BytesPerSecond{1e9}, 1, 1});
  const auto with_traffic = identity_of(scenario);
  CHECK(with_traffic != before);
  scenario.job.traffic.front().weight = 2;
  CHECK(identity_of(scenario) != with_traffic);
  scenario.job.traffic.clear();
  scenario.job.input.columns.emplace_back("text");
  CHECK(identity_of(scenario) != before);
}

TEST_CASE("platforms with the same GPUs joined alike have the same links", "[trust][identity]") {
  const auto links = [](const char* platform, const char* gpus) {
    const auto scenario = load_scenario("article/p4d", {{"platform", platform}, {"job.gpus", gpus}}, data);
    return identity_of_links(scenario.platform, Transport::p2p);
  };
  const auto p5 = links("aws-p5.48xlarge", "8");
  CHECK(links("gcp-a3-highgpu-8g", "8") == p5);
  CHECK(links("azure-nd96isr-h100-v5", "8") == p5);
  CHECK(links("aws-p5.48xlarge", "16") == p5);
  CHECK(links("aws-p5en.48xlarge", "8") == p5);  // an H200's NVLinks are those of an H100
  CHECK(links("aws-p4d.24xlarge", "8") != p5);
}
