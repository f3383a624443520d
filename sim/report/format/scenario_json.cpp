// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/scenario_json.hpp"

#include <functional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/report/format/text.hpp"
#include "sim/report/format/words.hpp"
#include "sim/scenario/field_tables.hpp"
#include "sim/scenario/value_text.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

/// Settings in the form of a scenario file, by their table of fields, which describes all keys.
Json fields_json(const Record& settings);

template <class... Kinds>
bool is_any_of(const value::Kind& kind) {
  return (std::holds_alternative<Kinds>(kind) || ...);
}

/// Numbers and booleans are written as such, everything else as in a scenario.
Json value_json(const value::Kind& kind, const FieldValue& field_value) {
  using namespace value;
  if (const auto* names = std::get_if<std::vector<std::string>>(&field_value)) return *names;
  if (const auto* text = std::get_if<std::string>(&field_value)) return *text;
  const auto whole = whole_in(field_value);
  if (is_any_of<Boolean>(kind)) return whole != 0;
  if (is_any_of<Resharding>(kind) && whole <= Fsdp::kept) return whole == Fsdp::over_all;
  if (is_any_of<Whole, WholeOrWord, Gpus, Resharding>(kind)) return whole;
  if (is_any_of<Real, Ratio, Elements>(kind)) return number_in(field_value);
  return value_text(kind, field_value);
}

/// Adds the keys that have an effect, in the order of the table.
/// @param add_own called with each key that needs code of its own
void add_fields(Json& json, const Record& settings,
                const std::function<void(std::string_view key)>& add_own = {}) {
  for (const auto& field : settings.fields()) {
    if (!settings.counts(field)) continue;
    if (field.has_value()) {
      json[std::string{field.key}] = value_json(field.kind, settings.effective_value(field));
    } else if (field.is_group()) {
      const bool is_list = is_any_of<value::Maps>(field.kind);
      for (const auto& group : settings.groups(field)) {
        auto& entry = json[std::string{field.key}];
        (is_list ? entry.emplace_back() : entry) = fields_json(group);
      }
    } else if (add_own) {
      add_own(field.key);
    }
  }
}

Json fields_json(const Record& settings) {
  auto json = Json::object();
  add_fields(json, settings);
  return json;
}

/// Sizes other than 1.
Json parallel_json(const Job& job) {
  Json json = Json::object();
  add_fields(json, job.layout, [&](std::string_view) {
    if (const auto replicas = replicas_of(job.strategy); replicas > 1) json["replicate"] = replicas;
  });
  return json;
}

Json traffic_json(const std::vector<BackgroundFlow>& traffic) {
  Json list = Json::array();
  for (const auto& flow : traffic) {
    Json entry{{"from", flow.from}, {"to", flow.to}};
    if (flow.rate) {
      entry["rate"] = fmt::format("{} B/s", flow.rate->value());
    } else {
      entry["load"] = flow.load;
    }
    entry["weight"] = flow.weight;
    const auto add_time = [&](const char* key, Seconds time) {
      entry[key] = value::text(value::Amount{value::Unit::pause, ""}, time);
    };
    if (flow.start > Seconds{}) add_time("start", flow.start);
    if (flow.end) add_time("end", *flow.end);
    if (flow.period) add_time("period", *flow.period);
    list.push_back(std::move(entry));
  }
  return list;
}

Json anchor_json(const Anchor& anchor) {
  return {{"gpu", anchor.gpu},
          {"precision", name_of(anchor.precision)},
          {"batch", anchor.batch},
          {"optimizer", name_of(anchor.optimizer)},
          {"step_time", fmt::format("{} s", anchor.step_time.value())},
          {"source", anchor.source}};
}

/// What-if speeds other than 1.
Json speeds_json(const SpeedFactors& speeds) {
  Json json = Json::object();
  for (const auto part : all_parts)
    if (speeds[part] != 1) json[std::string{key_of(part)}] = speeds[part];
  return json;
}

Json strategy_of(const Job& job) {
  auto json = strategy_json(job.strategy);
  if (job.local_sgd) add_local_sgd_keys(json, *job.local_sgd);
  return json;
}

/// The model as a scenario names it.
Json model_json(const Model& model) {
  if (!model.changes) return model.name;
  Json json{{"based_on", model.changes->based_on}};
  for (const auto& [key, value] : model.changes->values)
    json[key] = Json::accept(value) ? Json::parse(value) : Json(value);
  return json;
}

}  // namespace

Json scenario_json(const Scenario& scenario) {
  Json json{{"schema", 1}};
  if (trains(scenario.job.strategy)) json["model"] = model_json(scenario.model);
  json.update({{"platform", scenario.platform.name},
               {"job", fields_json(scenario.job)},
               {"strategy", strategy_of(scenario.job)},
               {"optimizer", name_of(scenario.job.optimizer)},
               {"nccl", Json::object()},
               {"input", input_json(scenario.job.input)}});
  // A scenario has either `steps` or `input.epoch_steps`.
  if (!scenario.job.input.epoch_steps) json["steps"] = scenario.job.steps;
  for (const auto& [name, value] : scenario.job.nccl) json["nccl"][name] = value;
  if (auto parallel = parallel_json(scenario.job); !parallel.empty()) json["parallel"] = std::move(parallel);
  Json network = Json::object();
  add_fields(network, scenario.job.network);
  if (!network.empty()) json["network"] = std::move(network);
  if (!scenario.job.traffic.empty()) json["traffic"] = traffic_json(scenario.job.traffic);
  if (!scenario.platform.speeds.as_built()) json["faster"] = speeds_json(scenario.platform.speeds);
  if (scenario.anchor) json["anchor"] = anchor_json(*scenario.anchor);
  if (scenario.campaign) json["campaign"] = campaign_settings_json(*scenario.campaign);
  return json;
}

nlohmann::ordered_json strategy_json(const Strategy& strategy) {
  Json json{{"kind", name_of(strategy)}};
  add_fields(json, record_of(strategy));
  return json;
}

nlohmann::ordered_json memory_verdict_json(MemoryVerdict verdict, bool is_known) {
  const bool is_sure = is_known || verdict == MemoryVerdict::does_not_fit;
  return is_sure ? Json(name_of(verdict)) : Json(nullptr);
}

nlohmann::ordered_json fits_json(MemoryVerdict verdict, bool is_known) {
  if (verdict == MemoryVerdict::may_not_fit || memory_verdict_json(verdict, is_known).is_null())
    return nullptr;
  return verdict != MemoryVerdict::does_not_fit;
}

namespace {

Json column_json(const Column& column) {
  Json json{{"name", column.name},
            {"size", exact_bytes_text(column.size)},
            {"unpacked", exact_bytes_text(column.unpacked)}};
  if (column.codec) json["codec"] = column.codec->name;
  return json;
}

/// @param with_rows the dataset, of which a predicate may select rows
Json dataset_json(const Dataset& with_rows) {
  if (!with_rows.name.empty()) return with_rows.name;
  const auto dataset = without_predicate(with_rows);
  auto json = fields_json(dataset);
  for (const auto& column : dataset.columns) json["columns"].push_back(column_json(column));
  return json;
}

Json storage_json(const StorageTier& tier) {
  if (!tier.name.empty()) return tier.name;
  return fields_json(tier);
}

}  // namespace

Json input_json(const InputSettings& input) {
  Json json = Json::object();
  add_fields(json, input, [&](std::string_view key) {
    if (!input.dataset) return;
    if (key == "dataset") json["dataset"] = dataset_json(*input.dataset);
    if (key == "storage" && input.storage) json["storage"] = storage_json(*input.storage);
    if (key == "staged_from" && input.staged_from) json["staged_from"] = storage_json(*input.staged_from);
  });
  return json;
}

void add_local_sgd_keys(Json& strategy, const LocalSgd& settings) {
  strategy["inner"] = strategy["kind"];
  strategy["kind"] = "local_sgd";
  add_fields(strategy, settings);
}

Json outer_loop_json(const OuterLoop& loop, const LocalSgd& settings) {
  return {{"workers", settings.workers},
          {"inner_steps", loop.steps},
          {"inner_s", loop.inner.value()},
          {"fragments", loop.fragments},
          {"exchange_s", loop.exchange.value()},
          {"pause_s", loop.pause.value()},
          {"sent_bytes", loop.sent.value()},
          {"use", loop.use()},
          {"mean_step_s", loop.mean_step().value()}};
}

namespace {

Json prices_json(const CampaignSettings& settings) {
  Json json = Json::object();
  for (std::size_t i = 0; i < terms_words.size(); ++i)
    if (settings.prices[i])
      json[std::string{terms_words[i]}] =
          value::text(value::Amount{value::Unit::node_price, {}}, *settings.prices[i]);
  return json;
}

Json phases_json(const std::vector<CampaignPhase>& phases) {
  Json list = Json::array();
  for (const auto& phase : phases) {
    Json json = Json::object();
    add_fields(json, phase, [&](std::string_view key) {
      if (key != "set") return;
      json["set"] = Json::object();
      for (const auto& setting : phase.set) json["set"][setting.key] = Json::parse(setting.value);
    });
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace

Json campaign_settings_json(const CampaignSettings& settings) {
  Json json = Json::object();
  add_fields(json, settings, [&](std::string_view key) {
    if (key == "prices") json["prices"] = prices_json(settings);
    if (key == "phases" && !settings.phases.empty()) json["phases"] = phases_json(settings.phases);
  });
  return json;
}

}  // namespace gradway::report
