// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/scenario_json.hpp"

#include <fmt/format.h>

#include "sim/report/format/fields_json.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/words.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

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

nlohmann::ordered_json fits_json(MemoryVerdict verdict) {
  if (verdict == MemoryVerdict::may_not_fit) return nullptr;
  return verdict != MemoryVerdict::does_not_fit;
}

}  // namespace gradway::report
