// SPDX-License-Identifier: Apache-2.0
#include "sim/config/find/scenario_keys.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/nearest.hpp"
#include "sim/config/read/nccl_variables.hpp"
#include "sim/config/yaml/foreign_names.hpp"
#include "sim/platform/speeds.hpp"
#include "sim/scenario/catalogue/catalogue_fields.hpp"
#include "sim/scenario/field_rows.hpp"
#include "sim/scenario/strategy_words.hpp"
#include "sim/scenario/value_text.hpp"

namespace gradway::config {
namespace {

constexpr std::string_view changes_of_model = "model.";
constexpr std::string_view of_campaign = "affects the campaign, not the step";
constexpr value::Words an_optimizer{"an optimizer", optimizer_words};

/// A key that cannot be set: in entries of lists, or read before the scenario.
ScenarioKey of_files(ScenarioKey key) {
  key.is_settable = false;
  return key;
}

std::string text_of_default(const Field& field) {
  if (field.is_custom || field.is_required) return std::string{field.default_text};
  const auto value = field.default_value();
  const auto* amount = std::get_if<value::Amount>(&field.kind);
  return amount != nullptr && !is_empty(value) ? value::readable_text(*amount, number_in(value))
                                               : value_text(field.kind, value);
}

}  // namespace

ScenarioKey key_of_row(std::string_view group, const Field& field) {
  ScenarioKey key{fmt::format("{}{}", group, field.key), field.kind, std::string{field.help}};
  key.is_required = field.is_required;
  key.outside_identity = field.outside_identity;
  key.default_text = text_of_default(field);
  return key;
}

namespace {

/// Collects keys in their order.
class Keys {
 public:
  void add(ScenarioKey key) { keys_.push_back(std::move(key)); }

  /// Adds the rows of a table. @param change applied to each
  void fields(std::string_view group, const FieldTable& fields,
              ScenarioKey (*change)(ScenarioKey) = nullptr) {
    for (const auto& field : fields) {
      auto key = key_of_row(group, field);
      add(change != nullptr ? change(std::move(key)) : std::move(key));
    }
  }

  /// Adds the rows of a kind of strategy, and merges those that are equal to a row of another kind.
  void strategy(std::string_view kind, const FieldTable& fields) {
    for (const auto& field : fields) {
      auto key = key_of_row("strategy.", field);
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
  keys.fields(
      "",
      {custom("schema", value::Described{"1"}, "version of the file format; the first key of every file",
              {.is_required = true, .outside_identity = "the version of the format"}),
       custom("source", value::Text{}, "where the scenario comes from; not interpreted",
              {.outside_identity = "not interpreted"}),
       custom("based_on", value::Name{},
              "another scenario, from which this one takes the keys and groups that it lacks",
              {.outside_identity = "its keys take part themselves"})},
      of_files);
  keys.fields(
      "", {custom("model", value::Name{},
                  "model that is trained (gradway list models); model.KEY changes a key of its file, "
                  "as in model.layers: 40; none with strategy.kind collective",
                  {.is_required = true}),
           custom("platform", value::Name{}, "hardware (gradway list platforms)", {.is_required = true})});
}

void add_strategy_keys(Keys& keys) {
  static const auto inner = [] {
    std::vector<std::string_view> words;
    for (const auto& [name, defaults] : strategy_kinds())
      if (trains(defaults)) words.push_back(name);
    return words;
  }();
  static const auto kinds = [] {
    std::vector<std::string_view> words{strategy_words.begin(), strategy_words.end()};
    words.emplace_back("local_sgd");
    return words;
  }();
  keys.fields("",
              {custom("strategy", value::Map{}, "how ranks share the training and what they exchange"),
               custom("strategy.kind", value::Words{"a strategy", kinds},
                      "ddp, fsdp (FSDP2) and fsdp1: PyTorch's; zero: DeepSpeed's ZeRO; "
                      "distributed_optimizer: Megatron's; none: a single GPU; collective: repeated calls of "
                      "one collective, without training; local_sgd: workers that run the whole job each and "
                      "exchange updates rarely",
                      {.default_text = "ddp"})});
  for (const auto& [name, defaults] : strategy_kinds()) keys.strategy(name, record_of(defaults).fields());
  const auto of_local_sgd = [](ScenarioKey row) {
    row.strategies = {"local_sgd"};
    if (row.name != "strategy.inner") row.outside_identity = of_campaign;
    return row;
  };
  keys.fields(
      "strategy.",
      {custom("inner", value::Words{"an inner strategy", inner},
              "strategy of the ranks of one worker, with the keys of that kind", {.default_text = "ddp"})},
      of_local_sgd);
  keys.fields("strategy.", fields_of<LocalSgd>(), of_local_sgd);
  keys.fields("strategy.wan.", fields_of<WanSettings>());
  keys.fields("strategy.clients.", fields_of<ClientSettings>());
  keys.fields("strategy.clients.classes.", fields_of<ClientClass>(), of_files);
}

/// Keys of datasets and storage tiers, which a scenario can contain instead of their names.
void add_data_keys(Keys& keys) {
  keys.fields("input.dataset.", fields_of<Dataset>(), of_files);
  keys.fields("input.dataset.cpu.", fields_of<Dataset::Cpu>(), of_files);
  keys.fields("input.predicate.", fields_of<Predicate>());
  keys.fields("input.storage.", fields_of<StorageTier>(), of_files);
  keys.fields("input.storage.burst.", fields_of<StorageTier::Burst>(), of_files);
  keys.fields("input.storage.price.", fields_of<StorageTier::Price>(), [](ScenarioKey row) {
    row.outside_identity = "a price";
    return of_files(std::move(row));
  });
}

void add_anchor_keys(Keys& keys) {
  keys.fields("",
              {custom("anchor", value::Map{},
                      "measured step on one GPU without DDP, to which predicted compute times are scaled; "
                      "replaces the model's own anchors",
                      {.outside_identity = "part of the errors of times that are scaled to it"})});
  keys.fields("anchor.", fields_of<Anchor>());
}

void add_traffic_keys(Keys& keys) {
  keys.fields("", {custom("traffic", value::Maps{}, "traffic of other jobs on the same network")});
  keys.fields("traffic.", fields_of<BackgroundFlow>(), of_files);
}

void add_campaign_keys(Keys& keys) {
  keys.fields("", {custom("campaign", value::Map{},
                          "whole training of which the scenario is one step, for gradway campaign",
                          {.outside_identity = "the whole training, of which this is the step"})});
  keys.fields("campaign.", fields_of<CampaignSettings>());
  keys.fields("campaign.checkpoint.", fields_of<CheckpointSettings>());
  keys.fields("campaign.restart.", fields_of<RestartSettings>());
  keys.fields("campaign.failures.", fields_of<FailureSettings>());
  keys.fields("campaign.spot.", fields_of<SpotSettings>());
  keys.fields("campaign.stragglers.", fields_of<StragglerSettings>());
  keys.fields("campaign.evaluation.", fields_of<EvaluationSettings>());
  for (const auto terms : terms_words)
    keys.add({fmt::format("campaign.prices.{}", terms), value::Amount{value::Unit::node_price, "98.32 USD/h"},
              fmt::format("price of a node with terms {}; default: the platform's", terms)});
  keys.fields("campaign.carbon.", fields_of<CarbonSettings>());
  keys.fields("campaign.phases.", fields_of<CampaignPhase>(), of_files);
  keys.fields("campaign.adapt.", fields_of<BatchRule>());
  keys.fields("campaign.storage.", fields_of<StorageGrowth>());
  keys.fields("campaign.convergence.", fields_of<ConvergenceSettings>());
}

/// In the order of the parts.
constexpr std::array<std::string_view, std::size(all_parts)> speed_ups{
    "speed-up of kernels, without the gaps between them",
    "speed-up of kernel launches and other CPU work of the framework",
    "speed-up of host memory, of copies from pageable memory and of NCCL's transfers through it (SHM)",
    "speed-up of PCIe links and of NCCL's P2P transfers over them",
    "speed-up of NVLink, of NCCL's P2P transfers over it, and of NVLS; 0: there is no NVLink, and GPUs "
    "exchange over PCIe or host memory",
    "speed-up of the links between CPU sockets",
    "speed-up of network links, switches, NICs with their PCIe links, connections, and NCCL's NET transfers"};

}  // namespace

std::string ScenarioKey::help() const {
  if (strategies.empty()) return meaning;
  return fmt::format("kind{} {}: {}", strategies.size() == 1 ? "" : "s", fmt::join(strategies, ", "),
                     meaning);
}

const std::vector<ScenarioKey>& described_keys() {
  static const auto all_keys = [] {
    Keys keys;
    add_file_keys(keys);
    keys.fields("", {custom("job", value::Map{}, "batch, precision and execution of the training job",
                            {.is_required = true})});
    keys.fields("job.", fields_of<Job>());
    add_strategy_keys(keys);
    keys.fields("", {custom("parallel", value::Map{},
                            "how the model is distributed over the ranks; the remaining factor of job.gpus "
                            "is data parallelism")});
    keys.fields("parallel.", fields_of<Layout>());
    keys.fields("",
                {custom("optimizer", an_optimizer,
                        "optimizer; muon updates the matrices of the blocks and adamw all other parameters; "
                        "a profile has its own optimizer",
                        {.default_text = "sgd"}),
                 custom("input", value::Map{}, "how batches reach the GPUs")});
    keys.fields("input.", fields_of<InputSettings>());
    add_data_keys(keys);
    add_anchor_keys(keys);
    keys.fields("", {custom("steps", value::Whole{1, 100'000},
                            "number of steps to simulate; the steady-state step is reported",
                            {.default_text = "1", .outside_identity = "the same job, simulated for longer"}),
                     custom("network", value::Map{},
                            "distance and quality of the network between nodes, instead of those of the "
                            "platform")});
    keys.fields("network.", fields_of<NetworkConditions>());
    add_traffic_keys(keys);
    add_campaign_keys(keys);
    keys.fields(
        "",
        {custom("faster", value::Map{}, "what-if: speed-up of parts of the hardware; latencies do not change",
                {.outside_identity = "a what-if about the same hardware, with the same errors"})});
    for (const auto part : all_parts)
      keys.fields("faster.", {custom(key_of(part), value::Real{part == HardwarePart::nvlink ? 0 : 1e-6, 1e12},
                                     speed_ups[static_cast<std::size_t>(part)], {.default_text = "1"})});
    keys.fields("", {custom("nccl", value::Map{}, "environment variables of NCCL, by their own names")});
    for (auto& variable : nccl_keys()) keys.add(std::move(variable));
    return keys.take();
  }();
  return all_keys;
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
