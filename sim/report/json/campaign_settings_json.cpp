// SPDX-License-Identifier: Apache-2.0
#include "sim/report/json/campaign_settings_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/report/json/exact_text.hpp"
#include "sim/report/text/text.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

using exact::percent;
using exact::rate;
using exact::time;

void add(Json& json, const char* key, const std::optional<Seconds>& value) {
  if (value) json[key] = time(*value);
}

Json checkpoint_json(const CheckpointSettings& settings) {
  Json json{{"interval", settings.interval ? time(*settings.interval) : "best"},
            {"mode", name_of(settings.mode)},
            {"sharded", settings.sharded}};
  if (settings.size) json["size"] = exact_bytes_text(*settings.size);
  if (settings.storage) {
    json["storage"] = settings.storage->name;
    json["keep"] = settings.keep == 0 ? Json("all") : Json(settings.keep);
  } else {
    json["write"] = rate(settings.write);
  }
  if (settings.read) json["read"] = rate(*settings.read);
  if (settings.per_rank) json["per_rank"] = rate(*settings.per_rank);
  json["overhead"] = time(settings.overhead);
  if (settings.mode == SaveMode::sync) return json;
  if (settings.staging) json["staging"] = name_of(*settings.staging);
  if (settings.device_copy) json["device_copy"] = rate(*settings.device_copy);
  json["slowdown"] = settings.slowdown;
  return json;
}

Json failures_json(const FailureSettings& settings) {
  Json json = Json::object();
  if (!settings.model.empty()) json["model"] = settings.model;
  add(json, "node_mttf", settings.node_mttf);
  add(json, "job_mttf", settings.job_mttf);
  json["again"] = percent(settings.again);
  json["again_within"] = time(settings.again_within);
  return json;
}

Json spot_json(const SpotSettings& settings) {
  Json json = Json::object();
  if (!settings.model.empty()) json["model"] = settings.model;
  add(json, "node_up", settings.node_up);
  add(json, "node_down", settings.node_down);
  if (settings.group) json["group"] = *settings.group;
  json["notice"] = time(settings.notice);
  json["share"] = percent(settings.share);
  return json;
}

Json stragglers_json(const StragglerSettings& settings) {
  Json json = Json::object();
  if (settings.node_every) {
    json = {{"node_every", time(*settings.node_every)},
            {"slowdown", settings.slowdown},
            {"lasts", time(settings.lasts)}};
  }
  json["jitter"] = percent(settings.jitter);
  return json;
}

Json prices_json(const CampaignSettings& settings) {
  Json json = Json::object();
  for (std::size_t i = 0; i < terms_words.size(); ++i)
    if (settings.prices[i])
      json[std::string{terms_words[i]}] = fmt::format("{} USD/h", settings.prices[i]->value());
  return json;
}

void add_goal(Json& json, const CampaignSettings& settings) {
  const auto count = [](double value) { return fmt::format("{}", value); };
  if (settings.tokens) json["tokens"] = count(*settings.tokens);
  if (settings.samples) json["samples"] = count(*settings.samples);
  if (settings.rounds) json["rounds"] = *settings.rounds;
  if (!settings.epochs) return;
  json["epochs"] = *settings.epochs;
  json["samples_per_epoch"] = count(settings.samples_per_epoch);
}

}  // namespace

Json campaign_settings_json(const CampaignSettings& settings) {
  Json json = Json::object();
  add_goal(json, settings);
  if (settings.checkpoint) json["checkpoint"] = checkpoint_json(*settings.checkpoint);
  const auto& restart = settings.restart;
  json["restart"] = {{"detection", time(restart.detection)},
                     {"requeue", time(restart.requeue)},
                     {"communicators", time(restart.communicators)},
                     {"loader", time(restart.loader)}};
  if (settings.failures) json["failures"] = failures_json(*settings.failures);
  if (settings.spot) json["spot"] = spot_json(*settings.spot);
  json["stragglers"] = stragglers_json(settings.stragglers);
  if (settings.evaluation.every > 0)
    json["evaluation"] = {{"every", settings.evaluation.every}, {"time", time(settings.evaluation.time)}};
  if (settings.spares) {
    json["spares"] = *settings.spares;
    json["repair"] = time(settings.repair);
  }
  if (settings.elastic_from) json["elastic_from"] = *settings.elastic_from;
  json["terms"] = name_of(settings.terms);
  json["prices"] = prices_json(settings);
  if (settings.carbon)
    json["carbon"] = {{"grid", fmt::format("{} g/kWh", settings.carbon->grams_per_kwh)},
                      {"node_power", fmt::format("{} W", settings.carbon->node_power.value())},
                      {"pue", settings.carbon->pue}};
  json["seed"] = settings.seed;
  return json;
}

}  // namespace gradway::report
