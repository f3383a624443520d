// SPDX-License-Identifier: Apache-2.0
#include "sim/config/find/scenario_keys.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/nearest.hpp"
#include "sim/config/read/nccl_variables.hpp"
#include "sim/config/yaml/foreign_names.hpp"
#include "sim/platform/speeds.hpp"
#include "sim/scenario/campaign_fields.hpp"
#include "sim/scenario/dataset_fields.hpp"
#include "sim/scenario/fields.hpp"
#include "sim/scenario/input_fields.hpp"
#include "sim/scenario/job_fields.hpp"
#include "sim/scenario/layout_fields.hpp"
#include "sim/scenario/local_sgd_fields.hpp"
#include "sim/scenario/network_fields.hpp"
#include "sim/scenario/strategy_fields.hpp"
#include "sim/scenario/value_text.hpp"

namespace gradway::config {
namespace {

constexpr bool in_files_only = false;
constexpr std::string_view changes_of_model = "model.";
constexpr std::string_view of_campaign = "affects the campaign, not the step";

/// A key that is not in a table of fields.
ScenarioKey key(std::string name, value::Kind kind, std::string meaning) {
  return {std::move(name), kind, std::move(meaning)};
}

ScenarioKey required(ScenarioKey key) {
  key.is_required = true;
  return key;
}

ScenarioKey with_default(std::string_view default_text, ScenarioKey key) {
  key.default_text = default_text;
  return key;
}

/// A key that cannot be set: in entries of lists, or read before the scenario.
ScenarioKey of_files(ScenarioKey key) {
  key.is_settable = in_files_only;
  return key;
}

ScenarioKey outside(std::string_view reason, ScenarioKey key) {
  key.outside_identity = reason;
  return key;
}

constexpr value::Words an_optimizer{"an optimizer", optimizer_words};

template <class Kind, class Member>
std::string text_of_default(const Kind& kind, const Member& member) {
  if constexpr (std::is_same_v<Kind, value::Amount> && std::is_same_v<Member, Seconds>) {
    return value::readable_text(kind, member.value());
  } else {
    return value_text(kind, member);
  }
}

/// Describes the rows of a table of fields as keys of a scenario. @param group prefix such as "job."
template <class Settings>
std::vector<ScenarioKey> described_fields(std::string_view group) {
  std::vector<ScenarioKey> keys;
  for_each_row<Settings>([&](const auto& row) {
    auto& key = keys.emplace_back(
        ScenarioKey{std::string{group} + std::string{row.key}, row.kind, std::string{row.help}});
    if constexpr (is_custom_field_v<decltype(row)>) {
      key.default_text = row.default_text;
      key.is_required = row.is_required;
      key.outside_identity = row.outside_identity;
    } else {
      key.is_required = row.traits.is_required;
      key.outside_identity = row.traits.outside_identity;
      if (!key.is_required) key.default_text = text_of_default(row.kind, Settings{}.*row.member);
    }
  });
  return keys;
}

/// Collects keys in their order.
class Keys {
 public:
  void add(ScenarioKey key) { keys_.push_back(std::move(key)); }

  /// Adds the rows of a table. @param more applied to each
  template <class Settings, class... More>
  void fields(std::string_view group, const More&... more) {
    for (auto& key : described_fields<Settings>(group)) {
      auto row = std::move(key);
      ((row = more(std::move(row))), ...);
      add(std::move(row));
    }
  }

  /// Adds the rows of a kind of strategy, and merges those that are equal to a row of another kind.
  template <class Settings>
  void strategy(std::string_view kind) {
    for (auto& key : described_fields<Settings>("strategy.")) {
      const auto same = std::ranges::find_if(keys_, [&](const ScenarioKey& known) {
        return known.name == key.name && known.meaning == key.meaning && known.value() == key.value();
      });
      if (same != keys_.end()) {
        same->strategies.push_back(kind);
        continue;
      }
      key.strategies = {kind};
      if (key.is_required) key.meaning = "required: " + key.meaning;
      key.is_required = false;  // required with this kind only
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
                                         "version of the file format; the first key of every file")))));
  keys.add(outside("not interpreted",
                   of_files(key("source", value::Text{}, "where the scenario comes from; not interpreted"))));
  keys.add(outside(
      "its keys take part themselves",
      of_files(key("based_on", value::Name{},
                   "another scenario, from which this one takes the keys and groups that it lacks"))));
  keys.add(required(key("model", value::Name{},
                        "model that is trained (gradway list models); model.KEY changes a key of its file, "
                        "as in model.layers: 40; none with strategy.kind collective")));
  keys.add(required(key("platform", value::Name{}, "hardware (gradway list platforms)")));
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
  keys.add(key("strategy", value::Map{}, "how ranks share the training and what they exchange"));
  keys.add(with_default(
      "ddp", key("strategy.kind", value::Words{"a strategy", kinds},
                 "ddp, fsdp (FSDP2) and fsdp1: PyTorch's; zero: DeepSpeed's ZeRO; distributed_optimizer: "
                 "Megatron's; none: a single GPU; collective: repeated calls of one collective, without "
                 "training; local_sgd: workers that run the whole job each and exchange updates rarely")));
  for_each_strategy([&]<class Settings>(std::type_identity<Settings>, std::string_view name) {
    keys.strategy<Settings>(name);
  });
  const auto of_local_sgd = [](ScenarioKey row) {
    row.strategies = {"local_sgd"};
    return row;
  };
  keys.add(of_local_sgd(
      with_default("ddp", key("strategy.inner", value::Words{"an inner strategy", inner},
                              "strategy of the ranks of one worker, with the keys of that kind"))));
  keys.fields<LocalSgd>("strategy.", of_local_sgd,
                        [](ScenarioKey row) { return outside(of_campaign, std::move(row)); });
  keys.fields<WanSettings>("strategy.wan.");
  keys.fields<ClientSettings>("strategy.clients.");
  keys.fields<ClientClass>("strategy.clients.classes.", of_files);
}

/// Keys of datasets and storage tiers, which a scenario can contain instead of their names.
void add_data_keys(Keys& keys) {
  keys.fields<Dataset>("input.dataset.", of_files);
  keys.fields<Dataset::Cpu>("input.dataset.cpu.", of_files);
  keys.fields<Predicate>("input.predicate.");
  keys.fields<StorageTier>("input.storage.", of_files);
  keys.fields<StorageTier::Burst>("input.storage.burst.", of_files);
  keys.fields<StorageTier::Price>(
      "input.storage.price.", [](ScenarioKey row) { return outside("a price", of_files(std::move(row))); });
}

void add_anchor_keys(Keys& keys) {
  keys.add(outside("part of the errors of times that are scaled to it",
                   key("anchor", value::Map{},
                       "measured step on one GPU without DDP, to which predicted compute times are scaled; "
                       "replaces the model's own anchors")));
  keys.add(required(key("anchor.gpu", value::Name{}, "GPU of the measurement: a file of platforms/gpus")));
  keys.add(
      required(key("anchor.precision",
                   value::Words{"a precision", std::span{precision_words}.first(precision_words.size() - 2)},
                   "precision of the measured step")));
  keys.add(required(key("anchor.batch", value::Whole{1, 1'000'000}, "samples of the measured step")));
  keys.add(required(key("anchor.optimizer", an_optimizer, "optimizer of the measured step")));
  keys.add(key("anchor.step_time", value::Amount{value::Unit::time, "97 ms"},
               "measured step time; use this key or rate"));
  keys.add(key("anchor.rate", value::Amount{value::Unit::step_rate, "8.91 steps/s"},
               "measured step rate; use this key or step_time"));
  keys.add(required(key("anchor.source", value::Text{}, "where the measurement comes from")));
}

void add_traffic_keys(Keys& keys) {
  keys.add(key("traffic", value::Maps{}, "traffic of other jobs on the same network"));
  keys.add(of_files(
      required(key("traffic.from", value::Name{}, "device that sends, as named by gradway show platform"))));
  keys.add(of_files(required(key("traffic.to", value::Name{}, "device that receives"))));
  keys.add(of_files(key("traffic.rate", value::Amount{value::Unit::bandwidth, "10 GB/s"},
                        "bandwidth that the other job demands; use this key or load")));
  keys.add(of_files(key("traffic.load", value::Real{1e-6, 1},
                        "demand as a share of the slowest link on the path; use this key or rate")));
  keys.add(of_files(with_default(
      "1", key("traffic.weight", value::Real{0.001, 1000},
               "weight of the traffic on a link that it shares with the job, whose weight is 1"))));
  keys.add(of_files(with_default("0 s", key("traffic.start", value::Amount{value::Unit::pause, "2 s"},
                                            "time of its first start, after that of the simulated steps"))));
  keys.add(of_files(
      key("traffic.end", value::Amount{value::Unit::pause, "5 s"}, "time of its first end; default: never")));
  keys.add(of_files(key("traffic.period", value::Amount{value::Unit::pause, "20 s"},
                        "time from one start to the next, for traffic that comes and goes; the mean step of "
                        "whole periods is reported")));
}

void add_campaign_keys(Keys& keys) {
  keys.add(outside("the whole training, of which this is the step",
                   key("campaign", value::Map{},
                       "whole training of which the scenario is one step, for gradway campaign")));
  keys.fields<CampaignSettings>("campaign.");
  keys.fields<CheckpointSettings>("campaign.checkpoint.");
  keys.fields<RestartSettings>("campaign.restart.");
  keys.fields<FailureSettings>("campaign.failures.");
  keys.fields<SpotSettings>("campaign.spot.");
  keys.fields<StragglerSettings>("campaign.stragglers.");
  keys.fields<EvaluationSettings>("campaign.evaluation.");
  for (const auto terms : terms_words)
    keys.add(key(fmt::format("campaign.prices.{}", terms),
                 value::Amount{value::Unit::node_price, "98.32 USD/h"},
                 fmt::format("price of a node with terms {}; default: the platform's", terms)));
  keys.fields<CarbonSettings>("campaign.carbon.");
  keys.fields<CampaignPhase>("campaign.phases.", of_files);
  keys.fields<BatchRule>("campaign.adapt.");
  keys.fields<StorageGrowth>("campaign.storage.");
  keys.fields<ConvergenceSettings>("campaign.convergence.");
}

std::string meaning_of(HardwarePart hardware_part) {
  switch (hardware_part) {
    case HardwarePart::gpu:
      return "speed-up of kernels, without the gaps between them";
    case HardwarePart::cpu:
      return "speed-up of kernel launches and other CPU work of the framework";
    case HardwarePart::host_memory:
      return "speed-up of host memory, of copies from pageable memory and of NCCL's transfers through it "
             "(SHM)";
    case HardwarePart::pcie:
      return "speed-up of PCIe links and of NCCL's P2P transfers over them";
    case HardwarePart::nvlink:
      return "speed-up of NVLink, of NCCL's P2P transfers over it, and of NVLS; 0: there is no NVLink, and "
             "GPUs "
             "exchange over PCIe or host memory";
    case HardwarePart::inter_socket:
      return "speed-up of the links between CPU sockets";
    case HardwarePart::network:
      return "speed-up of network links, switches, NICs with their PCIe links, connections, and NCCL's NET "
             "transfers";
  }
  return "";
}

}  // namespace

std::string ScenarioKey::help() const {
  if (strategies.empty()) return meaning;
  return fmt::format("kind{} {}: {}", strategies.size() == 1 ? "" : "s", fmt::join(strategies, ", "),
                     meaning);
}

const std::vector<ScenarioKey>& described_keys() {
  static const auto described = [] {
    Keys keys;
    add_file_keys(keys);
    keys.add(required(key("job", value::Map{}, "batch, precision and execution of the training job")));
    keys.fields<Job>("job.");
    add_strategy_keys(keys);
    keys.add(key(
        "parallel", value::Map{},
        "how the model is distributed over the ranks; the remaining factor of job.gpus is data parallelism"));
    keys.fields<Layout>("parallel.");
    keys.add(with_default("sgd", key("optimizer", an_optimizer,
                                     "optimizer; muon updates the matrices of the blocks and adamw all other "
                                     "parameters; a profile has its own optimizer")));
    keys.add(key("input", value::Map{}, "how batches reach the GPUs"));
    keys.fields<InputSettings>("input.");
    add_data_keys(keys);
    add_anchor_keys(keys);
    keys.add(
        outside("the same job, simulated for longer",
                with_default("1", key("steps", value::Whole{1, 100'000},
                                      "number of steps to simulate; the steady-state step is reported"))));
    keys.add(key("network", value::Map{},
                 "distance and quality of the network between nodes, instead of those of the platform"));
    keys.fields<NetworkConditions>("network.");
    add_traffic_keys(keys);
    add_campaign_keys(keys);
    keys.add(outside(
        "a what-if about the same hardware, with the same errors",
        key("faster", value::Map{}, "what-if: speed-up of parts of the hardware; latencies do not change")));
    for (const auto hardware_part : all_parts)
      keys.add(with_default("1", key(fmt::format("faster.{}", key_of(hardware_part)),
                                     value::Real{hardware_part == HardwarePart::nvlink ? 0 : 1e-6, 1e12},
                                     meaning_of(hardware_part))));
    keys.add(key("nccl", value::Map{}, "environment variables of NCCL, by their own names"));
    for (auto& variable : nccl_keys()) keys.add(std::move(variable));
    return keys.take();
  }();
  return described;
}

std::vector<std::string> scenario_keys() {
  std::vector<std::string> names;
  for (const auto& key : described_keys()) {
    // A key of several strategies can have several rows.
    if (key.is_settable && std::ranges::find(names, key.name) == names.end()) names.push_back(key.name);
  }
  return names;
}

void check_scenario_key(const std::string& key, const Where& where) {
  // The keys of a model depend on its kind: reading the model reports those that it does not have.
  if (key.starts_with(changes_of_model)) return;
  const auto& known = described_keys();
  const auto row = std::ranges::find(known, key, &ScenarioKey::name);
  if (row != known.end() && row->is_settable) return;
  const auto names = scenario_keys();
  const auto dot = key.rfind('.');
  const auto group_name = key.substr(0, dot == std::string::npos ? 0 : dot);
  const auto last = key.substr(dot == std::string::npos ? 0 : dot + 1);
  auto hint = hint_for_unsupported_nccl_variable(last);
  if (!hint.empty()) fail(where, fmt::format("gradway does not model '{}'", last), hint);
  hint = hint_for_foreign_key(group_name, last);
  if (hint.empty() && !nearest(key, names).empty()) hint = suggestion(key, names);
  if (hint.empty()) {
    // The keys of its group, or the top-level keys.
    const auto group = key.substr(0, key.find('.') + 1);
    std::vector<std::string> of_group;
    for (const auto& name : names) {
      const auto inner = name.substr(0, name.find('.') + 1);
      if (inner == group) of_group.push_back(name);
    }
    hint = of_group.empty()
               ? "'gradway list keys' lists all keys"
               : fmt::format("{}; 'gradway list keys' describes them", suggestion(key, of_group));
  }
  fail(where, fmt::format("unknown key '{}'", key), hint);
}

}  // namespace gradway::config
