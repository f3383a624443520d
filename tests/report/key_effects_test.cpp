// SPDX-License-Identifier: Apache-2.0
// A key that gradway accepts has an effect: every key that can be set, on scenarios of all kinds.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sim/config/config.hpp"
#include "sim/config/find/scenario_keys.hpp"
#include "sim/report/campaign/campaign.hpp"
#include "sim/report/format/scenario_json.hpp"
#include "sim/report/run/json.hpp"
#include "sim/run/simulate.hpp"
#include "sim/scenario/field_tables.hpp"
#include "sim/scenario/strategy_words.hpp"
#include "sim/scenario/value_text.hpp"

using namespace gradway;

namespace {

const DataPath data =
    with_file_cache(DataPath{{GRADWAY_SOURCE_DIR}});  // some thousand scenarios name the same files

/// The values that settings have in effect, by their keys.
using Values = std::map<std::string, std::string>;

void note(Values& values, const std::string& group, const Record& settings) {
  for (const auto& field : settings.fields())
    if (!field.is_custom)
      values[group + std::string{field.key}] = value_text(field.kind, settings.effective_value(field));
}

template <class Settings>
void note(Values& values, const std::string& group, const std::optional<Settings>& settings) {
  if (settings) note(values, group, *settings);
}

Values values_of(const Scenario& scenario) {
  Values values;
  const auto& job = scenario.job;
  note(values, "job.", job);
  note(values, "parallel.", job.layout);
  note(values, "input.", job.input);
  note(values, "network.", job.network);
  note(values, "strategy.", record_of(job.strategy));
  values["strategy.kind"] = name_of(job.strategy);
  values["optimizer"] = name_of(job.optimizer);
  if (job.local_sgd) {
    note(values, "strategy.", *job.local_sgd);
    note(values, "strategy.wan.", job.local_sgd->wan);
    note(values, "strategy.clients.", job.local_sgd->clients);
  }
  if (const auto& campaign = scenario.campaign) {
    note(values, "campaign.", *campaign);
    note(values, "campaign.checkpoint.", campaign->checkpoint);
    note(values, "campaign.restart.", campaign->restart);
    note(values, "campaign.failures.", campaign->failures);
    note(values, "campaign.spot.", campaign->spot);
    note(values, "campaign.stragglers.", campaign->stragglers);
    note(values, "campaign.evaluation.", campaign->evaluation);
    note(values, "campaign.adapt.", campaign->adapt);
    note(values, "campaign.storage.", campaign->storage);
    note(values, "campaign.convergence.", campaign->convergence);
  }
  return values;
}

/// Values of a kind without words; empty for kinds whose values name something.
struct ValuesToTry {
  using Texts = std::vector<std::string>;
  Texts operator()(const value::Boolean&) const { return {"true", "false"}; }
  Texts operator()(const value::Whole& whole) const {
    Texts texts;
    for (const std::int64_t number : {2, 3})
      if (number >= whole.least && number <= whole.most) texts.push_back(std::to_string(number));
    return texts;
  }
  Texts operator()(const value::Real& real) const {
    Texts texts;
    for (const double number : {0.5, 2.0})
      if (number >= real.least && number <= real.most) texts.push_back(value::plain_number(number));
    return texts;
  }
  Texts operator()(const value::Ratio&) const { return {"1.5"}; }
  Texts operator()(const value::Amount& amount) const { return {std::string{amount.example}}; }
  Texts operator()(const value::Elements& elements) const { return {std::string{elements.example}}; }
  Texts operator()(const value::Described& described) const {
    if (described.text == "0 or 1") return {"0", "1"};
    return {};
  }
  Texts operator()(const value::AxisOrder&) const { return {"[pipeline, data, context, tensor]"}; }
  Texts operator()(const value::RowsOfExperts&) const { return {"[1, 2, 3, 4, 5, 6, 7, 8]"}; }
  Texts operator()(const value::Wrapping&) const { return {"whole", "2"}; }
  Texts operator()(const value::Resharding&) const { return {"true", "false", "2"}; }
  Texts operator()(const value::WholeOrWord&) const { return {"1", "3"}; }
  template <class Kind>
  Texts operator()(const Kind&) const {
    return {};
  }
};

/// A few values of a kind; empty for kinds whose values name something.
std::vector<std::string> values_to_try(const value::Kind& kind) {
  if (const auto words = value::words_of(kind);
      !words.empty() && !std::holds_alternative<value::Amount>(kind))
    return {words.begin(),
            words.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(words.size(), 3))};
  return std::visit(ValuesToTry{}, kind);
}

/// All that a scenario's report and campaign say, but the echo of its settings.
std::string answers_to(const Scenario& scenario) {
  const auto run = simulate(scenario);
  auto document = report::json_document(run, "1").json();
  document.erase("scenario");
  document.erase("uncertainties");  // have digests of all settings
  auto text = document.dump();
  if (!scenario.campaign) return text;
  const CampaignQuestions questions{.seeds = 3};
  auto campaign =
      report::json_document(report::Campaign{run, questions, answers_of(run, questions)}, "1").json();
  campaign.erase("scenario");
  return text + campaign.dump();
}

/// Why the scenario that a report repeats cannot be read; empty: it can.
std::string error_of_echo(const Scenario& scenario) {
  auto with_text = data;
  with_text.texts["echo"] = report::scenario_json(scenario).dump();
  try {
    load_scenario("echo", {}, with_text);
    return {};
  } catch (const ConfigError& error) {
    return error.problems().front().what;
  }
}

struct Tried {
  std::string scenario;
  std::vector<Override> set;
};

/// Why a value that changes no figure may be accepted, whatever the scenario.
const std::map<std::string, std::string> allowed{
    {"steps", "more steps of the same kind are simulated"},
    {"campaign.seed", "nothing random happens"},
    {"campaign.elastic_from", "no run lacks nodes for long"},
    {"campaign.adapt.largest", "the batch never grows so far"},
    {"campaign.checkpoint.per_rank", "the storage is slower than all ranks together"},
    {"campaign.checkpoint.staging", "the kind of host memory that the framework takes"},
    {"campaign.failures.model", "the model that holds"},
    {"campaign.failures.again", "the share of the failure model"},
    {"campaign.spot.model", "prepares for terms: spot"},
    {"campaign.spot.node_down", "prepares for terms: spot"},
    {"job.attention", "the kernel that PyTorch chooses by itself"},
    {"job.implementation", "the implementation that the model has by itself"},
    {"job.framework", "names the program, which differs in what the job does not use"},
    {"job.zero_grad", "the peak of the memory is elsewhere"},
    {"job.float_logits", "the peak of the memory is elsewhere"},
    {"job.optimizer_in_backward", "the peak of the memory is elsewhere"},
    {"job.expandable_segments", "DDP's first buckets need more than the allocator's fragments"},
    {"input.stage_in", "gradway run reports the time of staging, which is not of a step"},
    {"input.sample_sizes", "the loader keeps up with samples of any size"},
    {"input.copy_streams", "gradway run reports the time of staging, which is not of a step"},
    {"strategy.broadcast_buffers", "a model without buffers has none to broadcast"},
    {"strategy.bucket_size", "Megatron's own size"},
    {"strategy.backward_prefetch", "0 and 1 are one group"},
    {"strategy.overlap_comm", "all gradients are in one bucket"},
    {"strategy.communication_dtype", "formats of the same size"},
    {"strategy.reduce_dtype", "formats of the same size"},
    {"strategy.zero_quantized_gradients", "files of DeepSpeed set it for any number of nodes"},
    {"job.deterministic", "trainers set it on all GPUs, and those from Hopper on have its workspaces anyway"},
};

std::vector<std::string> without_effect(const Tried& tried) {
  const auto base = load_scenario(tried.scenario, tried.set, data);
  const auto before = values_of(base);
  const auto answers = answers_to(base);
  std::vector<std::string> silent;
  std::set<std::string> seen;
  for (const auto& key : config::described_keys()) {
    if (!key.is_settable || allowed.contains(key.name)) continue;
    for (const auto& value : values_to_try(key.kind)) {
      if (value == key.default_text || !seen.insert(key.name + "=" + value).second) continue;
      auto changes = tried.set;
      changes.push_back({key.name, value});
      try {
        const auto scenario = load_scenario(tried.scenario, changes, data);
        if (const auto error = error_of_echo(scenario); !error.empty())
          silent.push_back(fmt::format("{}: the echo of {}={}: {}", tried.scenario, key.name, value, error));
        const auto after = values_of(scenario);
        const auto was = before.find(key.name), is = after.find(key.name);
        if (was != before.end() && is != after.end() && was->second == is->second) continue;
        if (answers_to(scenario) == answers)
          silent.push_back(fmt::format("{}: {}={}", tried.scenario, key.name, value));
      } catch (const ConfigError&) {
        continue;
      }
    }
  }
  return silent;
}

}  // namespace

TEST_CASE("a key has an effect or is refused, and reports repeat it", "[report][keys]") {
  const auto tried = GENERATE(
      Tried{"article/g6e", {}}, Tried{"sharded/llama2_7b", {{"model.layers", "3"}}},
      Tried{"sharded/llama2_7b", {{"model.layers", "2"}, {"strategy.kind", "zero"}, {"strategy.stage", "3"}}},
      Tried{"loading/staging", {}}, Tried{"recommendation/dlrm", {}},
      Tried{"campaign/llama2_7b-aws-p5", {{"model.layers", "6"}}},
      Tried{"sharded/llama2_7b", {{"model.layers", "6"}, {"job.precision", "fp8"}}},
      Tried{"h200-4x/vit_l_32", {}}, Tried{"scale/vit-aws-p5", {{"job.gpus", "16"}}},
      Tried{"h200-2x/moe", {{"model.layers", "2"}}});
  CHECK(without_effect(tried) == std::vector<std::string>{});
}
