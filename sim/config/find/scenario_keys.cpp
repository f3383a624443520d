// SPDX-License-Identifier: Apache-2.0
#include "sim/config/find/scenario_keys.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/nearest.hpp"
#include "sim/config/find/describe_fields.hpp"
#include "sim/config/read/nccl_variables.hpp"
#include "sim/config/yaml/likely_meant.hpp"
#include "sim/platform/speeds.hpp"
#include "sim/scenario/campaign_fields.hpp"
#include "sim/scenario/dataset_fields.hpp"
#include "sim/scenario/input_fields.hpp"
#include "sim/scenario/job_fields.hpp"
#include "sim/scenario/layout_fields.hpp"
#include "sim/scenario/local_sgd_fields.hpp"
#include "sim/scenario/strategy_fields.hpp"

namespace gradway::config {
namespace {

constexpr bool in_files_only = false;
constexpr std::string_view changes_of_model = "model.";
constexpr std::string_view of_campaign = "a campaign's, its step is the same";

/// A key that no table of fields has.
ScenarioKey key(std::string name, value::Kind kind, std::string meaning) {
  return {std::move(name), kind, std::move(meaning)};
}

ScenarioKey required(ScenarioKey key) {
  key.is_required = true;
  return key;
}

ScenarioKey with_default(std::string_view otherwise, ScenarioKey key) {
  key.otherwise = otherwise;
  return key;
}

/// What is not set by itself: entries of lists, and what is read before the scenario.
ScenarioKey of_files(ScenarioKey key) {
  key.is_set_alone = in_files_only;
  return key;
}

ScenarioKey outside(std::string_view reason, ScenarioKey key) {
  key.outside_identity = reason;
  return key;
}

constexpr value::Words an_optimizer{"an optimizer", optimizer_words};

/// Keys in their order.
class Keys {
 public:
  void add(ScenarioKey key) { keys_.push_back(std::move(key)); }

  /// The rows of a table. @param more applied to each
  template <class Settings, class... More>
  void fields(std::string_view group, const More&... more) {
    for (auto& key : described_fields<Settings>(group)) {
      auto row = std::move(key);
      ((row = more(std::move(row))), ...);
      add(std::move(row));
    }
  }

  /// The rows of a kind of strategy; a row that another kind has in the same words is one with it.
  template <class Settings>
  void strategy(std::string_view kind) {
    for (auto& key : described_fields<Settings>("strategy.")) {
      const auto same = std::ranges::find_if(keys_, [&](const ScenarioKey& other) {
        return other.name == key.name && other.meaning == key.meaning && other.value() == key.value();
      });
      if (same != keys_.end()) {
        same->strategies.push_back(kind);
        continue;
      }
      key.strategies = {kind};
      if (key.is_required) key.meaning = "required there: " + key.meaning;
      key.is_required = false;  // of the group: not with other kinds
      add(std::move(key));
    }
  }

  std::vector<ScenarioKey> take() { return std::move(keys_); }

 private:
  std::vector<ScenarioKey> keys_;
};

void add_file_keys(Keys& keys) {
  keys.add(outside("the version of the format",
                   required(of_files(key("schema", value::Described{"1"},
                                         "the version of this format; the first key of every file")))));
  keys.add(outside("a text for people",
                   of_files(key("source", value::Text{}, "where the scenario comes from, for people"))));
  keys.add(outside("the keys that it brings count",
                   of_files(key("based_on", value::Name{},
                                "another scenario, which gives the keys and groups that this one lacks"))));
  keys.add(required(
      key("model", value::Name{},
          "Model to train, a name of gradway list models; model.KEY changes a key of its file (model.layers: "
          "40). None with strategy.kind collective")));
  keys.add(required(key("platform", value::Name{}, "the hardware: gradway list platforms")));
}

void add_strategy_keys(Keys& keys) {
  static const auto inner = [] {
    std::vector<std::string_view> words;
    for_each_strategy([&]<class Settings>(std::type_identity<Settings>, std::string_view name) {
      if (trains(Settings{})) words.push_back(name);
    });
    return words;
  }();
  static const auto kinds = [] {
    std::vector<std::string_view> words{strategy_words.begin(), strategy_words.end()};
    words.emplace_back("local_sgd");
    return words;
  }();
  keys.add(key("strategy", value::Map{}, "what the ranks do together"));
  keys.add(with_default(
      "ddp",
      key("strategy.kind", value::Words{"a strategy", kinds},
          "PyTorch's DDP, FSDP2 and FSDP1, DeepSpeed's ZeRO, Megatron's distributed optimizer; none is one "
          "GPU alone; collective calls one collective and trains nothing; local_sgd: workers that seldom "
          "meet, each with the whole job")));
  for_each_strategy([&]<class Settings>(std::type_identity<Settings>, std::string_view name) {
    keys.strategy<Settings>(name);
  });
  const auto of_local_sgd = [](ScenarioKey row) {
    row.strategies = {"local_sgd"};
    return row;
  };
  keys.add(of_local_sgd(
      with_default("ddp", key("strategy.inner", value::Words{"a strategy of a worker's ranks", inner},
                              "what the ranks of one worker do in each step, with the keys of that kind"))));
  keys.fields<LocalSgd>("strategy.", of_local_sgd,
                        [](ScenarioKey row) { return outside(of_campaign, std::move(row)); });
  keys.fields<WanSettings>("strategy.wan.");
  keys.fields<ClientSettings>("strategy.clients.");
  keys.fields<ClientClass>("strategy.clients.classes.", of_files);
}

/// What a scenario can say itself in place of a name of a dataset or a tier.
void add_data_keys(Keys& keys) {
  keys.fields<Dataset>("input.dataset.", of_files);
  keys.fields<Dataset::Cpu>("input.dataset.cpu.", of_files);
  keys.fields<StorageTier>("input.storage.", of_files);
  keys.fields<StorageTier::Burst>("input.storage.burst.", of_files);
  keys.fields<StorageTier::Price>(
      "input.storage.price.", [](ScenarioKey row) { return outside("a price", of_files(std::move(row))); });
}

void add_anchor_keys(Keys& keys) {
  keys.add(
      outside("the measured step is named in the error of what rests on it",
              key("anchor", value::Map{},
                  "a measured step on one GPU without DDP that compute is scaled to, instead of the model's "
                  "own")));
  keys.add(required(key("anchor.gpu", value::Name{}, "the GPU: a file of platforms/gpus")));
  keys.add(
      required(key("anchor.precision",
                   value::Words{"a precision", std::span{precision_words}.first(precision_words.size() - 1)},
                   "that it was measured in")));
  keys.add(required(key("anchor.batch", value::Whole{1, 1'000'000}, "samples of the step")));
  keys.add(required(key("anchor.optimizer", an_optimizer, "that it was measured with")));
  keys.add(key("anchor.step_time", value::Amount{value::Unit::time, "97 ms"}, "this, or rate"));
  keys.add(key("anchor.rate", value::Amount{value::Unit::step_rate, "8.91 steps/s"}, "this, or step_time"));
  keys.add(required(key("anchor.source", value::Text{}, "where the measurement comes from")));
}

void add_traffic_keys(Keys& keys) {
  keys.add(key("traffic", value::Maps{}, "what neighbours send beside the job, as long as it runs"));
  keys.add(of_files(required(key("traffic.from", value::Name{}, "a part that gradway show platform names"))));
  keys.add(of_files(required(key("traffic.to", value::Name{}, "another part"))));
  keys.add(of_files(key("traffic.rate", value::Amount{value::Unit::bandwidth, "10 GB/s"},
                        "what the neighbour would like; this, or load")));
  keys.add(of_files(
      key("traffic.load", value::Real{1e-6, 1}, "its share of the slowest link on the way; this, or rate")));
  keys.add(of_files(with_default(
      "1", key("traffic.weight", value::Real{0.001, 1000}, "its share against the job's where they meet"))));
}

void add_campaign_keys(Keys& keys) {
  keys.add(
      outside("the whole training, of which this is the step",
              key("campaign", value::Map{}, "the whole training of which this is a step: gradway campaign")));
  keys.fields<CampaignSettings>("campaign.");
  keys.fields<CheckpointSettings>("campaign.checkpoint.");
  keys.fields<RestartSettings>("campaign.restart.");
  keys.fields<FailureSettings>("campaign.failures.");
  keys.fields<SpotSettings>("campaign.spot.");
  keys.fields<StragglerSettings>("campaign.stragglers.");
  keys.fields<EvaluationSettings>("campaign.evaluation.");
  for (const auto terms : terms_words)
    keys.add(key(fmt::format("campaign.prices.{}", terms),
                 value::Amount{value::Unit::node_price, "98.32 USD/h"}, "of a node"));
  keys.fields<CarbonSettings>("campaign.carbon.");
}

std::string meaning_of(HardwarePart part) {
  switch (part) {
    case HardwarePart::gpu:
      return "kernels, not the pauses between them";
    case HardwarePart::cpu:
      return "launches, and what else the framework does on the CPU";
    case HardwarePart::host_memory:
      return "memory of the sockets, copies from pageable memory, NCCL's copies through it (SHM)";
    case HardwarePart::pcie:
      return "links of PCIe, and NCCL's P2P over them";
    case HardwarePart::nvlink:
      return "links of NVLink, NCCL's P2P over them, and NVLS";
    case HardwarePart::inter_socket:
      return "links between sockets";
    case HardwarePart::network:
      return "links and switches, NICs with the links to their slots, connections, NCCL's NET";
  }
  return "";
}

}  // namespace

std::string ScenarioKey::help() const {
  if (strategies.empty()) return meaning;
  return fmt::format("kind{} {}: {}", strategies.size() == 1 ? "" : "s", fmt::join(strategies, " and "),
                     meaning);
}

const std::vector<ScenarioKey>& described_keys() {
  static const auto all = [] {
    Keys keys;
    add_file_keys(keys);
    keys.add(required(key("job", value::Map{}, "how it is trained")));
    keys.fields<Job>("job.");
    add_strategy_keys(keys);
    keys.add(
        key("parallel", value::Map{}, "how ranks are laid out; what is left of job.gpus is data parallel"));
    keys.fields<Layout>("parallel.");
    keys.add(
        with_default("sgd", key("optimizer", an_optimizer,
                                "muon: for the matrices of blocks, adamw for all else; a profile brings its "
                                "own")));
    keys.add(key("input", value::Map{}, "how the batch reaches the GPU"));
    keys.fields<InputSettings>("input.");
    add_data_keys(keys);
    add_anchor_keys(keys);
    keys.add(outside("the same job, simulated for longer",
                     with_default("1", key("steps", value::Whole{1, 100'000},
                                           "how many steps to simulate; the steady one is reported"))));
    add_traffic_keys(keys);
    add_campaign_keys(keys);
    keys.add(
        outside("a what-if about the same hardware, whose unknowns stay the same",
                key("faster", value::Map{}, "what if a part were so many times as fast; latencies stay")));
    for (const auto part : all_parts)
      keys.add(with_default(
          "1", key(fmt::format("faster.{}", key_of(part)), value::Real{1e-6, 1e12}, meaning_of(part))));
    keys.add(key("nccl", value::Map{}, "NCCL's variables, by their own names"));
    for (auto& variable : nccl_keys()) keys.add(std::move(variable));
    return keys.take();
  }();
  return all;
}

std::vector<std::string> scenario_keys() {
  std::vector<std::string> names;
  for (const auto& key : described_keys()) {
    // A key that several strategies have stands in several rows.
    if (key.is_set_alone && std::ranges::find(names, key.name) == names.end()) names.push_back(key.name);
  }
  return names;
}

void check_scenario_key(const std::string& key, const Where& where) {
  // The keys of a model depend on its kind: reading the model reports those that it does not have.
  if (key.starts_with(changes_of_model)) return;
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
