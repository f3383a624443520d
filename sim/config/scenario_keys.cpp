// SPDX-License-Identifier: Apache-2.0
#include "sim/config/scenario_keys.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/nearest.hpp"
#include "sim/config/campaign_keys.hpp"
#include "sim/config/likely_meant.hpp"
#include "sim/config/local_sgd_keys.hpp"
#include "sim/config/nccl_variables.hpp"
#include "sim/platform/speeds.hpp"

namespace gradway::config {
namespace {

constexpr bool required = true;
constexpr bool in_files_only = false;

std::vector<ScenarioKey> fixed_keys() {
  return {
      {"schema", "1", "the version of this format; the first key of every file", "", required, in_files_only},
      {"source", Text{}, "where the scenario comes from, for people", "", false, in_files_only},
      {"based_on", Name{}, "another scenario, which gives the keys and groups that this one lacks", "",
       false, in_files_only},
      {"model", Name{}, "what is trained: gradway list models; none with strategy.kind collective", "",
       required},
      {"platform", Name{}, "the hardware: gradway list platforms", "", required},
      {"job", Map{}, "how it is trained", "", required},
@@JOB
      {"strategy", Map{}, "what the ranks do together"},
      {"strategy.kind", "none, ddp, collective, fsdp, fsdp1, zero, distributed_optimizer, local_sgd",
       "PyTorch's DDP, FSDP2 and FSDP1, DeepSpeed's ZeRO, Megatron's distributed optimizer; none is one GPU "
       "alone; collective calls one collective and trains nothing; local_sgd: workers that seldom meet, each "
       "with the whole job",
       "ddp"},
@@STRATEGY
      {"parallel", Map{}, "how ranks are laid out; what is left of job.gpus is data parallel"},
@@LAYOUT
      {"optimizer", "sgd, adamw, adamw_fused, sgd_momentum, adamw_8bit, lion, lamb, muon",
       "muon: for the matrices of blocks, adamw for all else; a profile brings its own", "sgd"},
      {"input", Map{}, "how the batch reaches the GPU"},
      {"input.pin_memory", Boolean{}, "copies from pinned host memory, beside kernels", "true"},
      {"input.loader_workers", Whole{0, 4096},
       "with a dataset: processes of each rank that make its batches; 0: the training process does", "8"},
      {"input.prefetch_factor", Whole{1, 1024}, "batches that each of them is ahead, as PyTorch's", "2"},
      {"input.persistent_workers", Boolean{},
       "they stay from one epoch to the next, as PyTorch's; else each epoch starts them anew", "false"},
      {"input.worker_start", Amount{Unit::time, "6 ms", "0 ms"},
       "that the training process takes to start one of them", "6.2 ms"},
      {"input.dataset", Name{},
       "that is read, step by step; or its keys: samples, sample_size, format ...; left out, samples are in "
       "host "
       "memory, ready"},
      {"input.columns", Names{}, "of a Parquet file that are read; left out, all"},
      {"input.storage", Name{},
       "of 'gradway list storage', that serves it; or a map with the keys of such a file; left out, host "
       "memory"},
      {"input.storage_network", "own, shared",
       "own: storage has network cards of its own; shared: samples come over those that NCCL uses, of each "
       "rank over the "
       "one nearest to its GPU",
       "own"},
      {"input.storage_weight", Real{0.001, 1000},
       "with a shared network: the share of each worker that reads, against a collective's of 1, where they "
       "meet",
       "1"},
      {"input.codec", "lz4, snappy, zstd, zlib", "that samples are packed with"},
      {"input.decode", "cpu, gpu", "who decodes them", "cpu"},
      {"input.cache", "page_cache, local_nvme", "where each node keeps what it has read"},
      {"input.cache_size", Amount{Unit::size, "500 GB"}, "of each node"},
      {"input.cache_policy", "keeps, lru, random",
       "what a full cache gives up: nothing, what was not read for "
       "longest, anything",
       "keeps"},
      {"input.epoch", "first, later", "the first one finds caches empty, and no worker that stands", "later"},
      {"input.sample_sizes", "mean, drawn",
       "drawn: each batch of each rank has samples of other sizes, as the dataset's spread says", "mean"},
      {"input.batch_overhead", Amount{Unit::time, "1 ms", "0 ms"},
       "with a dataset: CPU time of the training process for each batch that it takes", "0 ms"},
      {"input.batch_overhead_spread", Real{0, 100},
       "its standard deviation over the mean, drawn for each rank and step", "0"},
      {"input.epoch_steps", Whole{2, 100000},
       "with a dataset: an epoch of so many steps is simulated whole, from empty queues to its last batch; "
       "left "
       "out, a step in its midst"},
      {"input.prefetch", "none, ahead, step, forward",
       "when the copy of the next batch starts, on a stream of its own: when the CPU issues it, when the GPU "
       "begins the step, behind the forward pass; none: each batch is copied in its own step",
       "none"},
      {"input.background_copy", Amount{Unit::size, "100 MB", "0 MB"},
       "what each GPU also copies from pinned host memory beside every step, for the next one", "0 MB"},
      {"input.background_start", "ahead, step, forward",
       "with a background_copy: when it starts, see input.prefetch", "ahead"},
      {"anchor", Map{},
       "a measured step on one GPU without DDP that compute is scaled to, instead of the model's own"},
      {"anchor.gpu", Name{}, "the GPU: a file of platforms/gpus", "", required},
      {"anchor.precision", "fp32, tf32, bf16, fp16", "that it was measured in", "", required},
      {"anchor.batch", Whole{1, 1000000}, "samples of the step", "", required},
      {"anchor.optimizer", "sgd, adamw, adamw_fused, sgd_momentum, adamw_8bit, lion, lamb, muon",
       "that it was measured with", "", required},
      {"anchor.step_time", Amount{Unit::time, "97 ms"}, "this, or rate"},
      {"anchor.rate", Amount{Unit::step_rate, "8.91 steps/s"}, "this, or step_time"},
      {"anchor.source", Text{}, "where the measurement comes from", "", required},
      {"steps", Whole{1, 100000}, "how many steps to simulate; the steady one is reported", "1"},
      {"traffic", Maps{}, "what neighbours send beside the job, as long as it runs"},
      {"traffic.from", Name{}, "a part that gradway show platform names", "", required, in_files_only},
      {"traffic.to", Name{}, "another part", "", required, in_files_only},
      {"traffic.rate", Amount{Unit::bandwidth, "10 GB/s"}, "what the neighbour would like; this, or load", "",
       false, in_files_only},
      {"traffic.load", Real{1e-6, 1}, "its share of the slowest link on the way; this, or rate",
       "", false, in_files_only},
      {"traffic.weight", Real{0.001, 1000}, "its share against the job's where they meet", "1",
       false, in_files_only},
  };
}

std::string meaning_of(Part part) {
  switch (part) {
    case Part::gpu:
      return "kernels, not the pauses between them";
    case Part::cpu:
      return "launches, and what else the framework does on the CPU";
    case Part::host_memory:
      return "memory of the sockets, copies from pageable memory, NCCL's copies through it (SHM)";
    case Part::pcie:
      return "links of PCIe, and NCCL's P2P over them";
    case Part::nvlink:
      return "links of NVLink, NCCL's P2P over them, and NVLS";
    case Part::inter_socket:
      return "links between sockets";
    case Part::network:
      return "links and switches, NICs with the links to their slots, connections, NCCL's NET";
  }
  return "";
}

}  // namespace

const std::vector<ScenarioKey>& described_keys() {
  static const auto all = [] {
    auto keys = fixed_keys();
    const auto of_workers = local_sgd_keys();
    keys.insert(std::ranges::find(keys, "parallel", &ScenarioKey::name), of_workers.begin(),
                of_workers.end());
    for (auto& key : campaign_keys()) keys.push_back(std::move(key));
    keys.push_back({"faster", Map{}, "what if a part were so many times as fast; latencies stay"});
    for (const auto part : all_parts) {
      keys.push_back(
          {fmt::format("faster.{}", key_of(part)), "a number from 1e-6 to 1e12", meaning_of(part), "1"});
    }
    keys.push_back({"nccl", Map{}, "NCCL's variables, by their own names"});
    for (auto& variable : nccl_keys()) keys.push_back(std::move(variable));
    return keys;
  }();
  return all;
}

std::vector<std::string> scenario_keys() {
  std::vector<std::string> names;
  for (const auto& key : described_keys()) {
    if (key.is_set_alone) names.push_back(key.name);
  }
  return names;
}

void check_scenario_key(const std::string& key, const Where& where) {
  const auto& known = described_keys();
  const auto found = std::ranges::find(known, key, &ScenarioKey::name);
  if (found != known.end() && found->is_set_alone) return;
  const auto names = scenario_keys();
  const auto dot = key.rfind('.');
  const auto group_name = key.substr(0, dot == std::string::npos ? 0 : dot);
  const auto last = key.substr(dot == std::string::npos ? 0 : dot + 1);
  if (is_unmodelled_variable(last))
    fail(where, fmt::format("gradway does not model '{}'", last), "leave it out");
  auto hint = hint_for_foreign_key(group_name, last);
  if (hint.empty() && !nearest(key, names).empty()) hint = suggestion(key, names);
  if (hint.empty()) {
    // The keys of its group, or those that stand by themselves, and the groups.
    const auto group = key.substr(0, key.find('.') + 1);
    std::vector<std::string> of_group;
    for (const auto& name : names) {
      const auto inner = name.substr(0, name.find('.') + 1);
      if (inner == group) of_group.push_back(name);
    }
    hint = fmt::format("known: {}; 'gradway list keys' says what they mean", fmt::join(of_group, ", "));
    if (of_group.empty()) hint = "'gradway list keys' names all";
  }
  fail(where, fmt::format("no scenario has the key '{}'", key), hint);
}

}  // namespace gradway::config
