// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/scenario_json.hpp"

#include <nlohmann/json.hpp>

#include "sim/report/format/fields_json.hpp"
#include "sim/scenario/campaign_fields.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

Json checkpoint_json(const CheckpointSettings& settings) {
  Json json = Json::object();
  add_fields(json, settings, [&](std::string_view key) {
    if (key == "interval")
      json["interval"] =
          settings.interval ? value::text(value::Amount{value::Unit::span, {}}, *settings.interval) : "best";
    if (!settings.storage) return;
    if (key == "storage") json["storage"] = settings.storage->name;
    if (key == "keep") json["keep"] = settings.keep == 0 ? Json("all") : Json(settings.keep);
  });
  return json;
}

/// JSON of settings whose values may come from a named model.
template <class Settings>
Json with_model(const Settings& settings) {
  Json json = Json::object();
  add_fields(json, settings, [&](std::string_view) {
    if (!settings.model.empty()) json["model"] = settings.model;
  });
  return json;
}

Json prices_json(const CampaignSettings& settings) {
  Json json = Json::object();
  for (std::size_t i = 0; i < terms_words.size(); ++i)
    if (settings.prices[i])
      json[std::string{terms_words[i]}] =
          value::text(value::Amount{value::Unit::node_price, {}}, *settings.prices[i]);
  return json;
}

/// An amount of tokens or samples.
Json count_json(double count) {
  return value::text(value::Amount{value::Unit::tokens, {}}, count);
}

Json phases_json(const std::vector<CampaignPhase>& phases) {
  Json list = Json::array();
  for (const auto& phase : phases) {
    Json json = Json::object();
    add_fields(json, phase, [&](std::string_view key) {
      if (key == "until" && phase.until) json["until"] = count_json(*phase.until);
      if (key != "set") return;
      json["set"] = Json::object();
      for (const auto& setting : phase.set) json["set"][setting.key] = Json::parse(setting.value);
    });
    list.push_back(std::move(json));
  }
  return list;
}

Json growth_json(const StorageGrowth& growth) {
  Json json = Json::object();
  add_fields(json, growth, [&](std::string_view) { json["tiers"] = growth.tiers; });
  return json;
}

Json convergence_json(const ConvergenceSettings& settings) {
  Json json = Json::object();
  add_fields(json, settings, [&](std::string_view key) {
    const auto& batch = key == "at_batch" ? settings.at_batch : settings.critical_batch;
    if (batch) json[std::string{key}] = count_json(*batch);
  });
  return json;
}

/// A group of the campaign. Null: the group is omitted.
Json group_json(const CampaignSettings& settings, std::string_view key) {
  if (key == "checkpoint" && settings.checkpoint) return checkpoint_json(*settings.checkpoint);
  if (key == "restart") return fields_json(settings.restart);
  if (key == "failures" && settings.failures) return with_model(*settings.failures);
  if (key == "spot" && settings.spot) return with_model(*settings.spot);
  if (key == "stragglers") return fields_json(settings.stragglers);
  if (key == "evaluation" && settings.evaluation.every > 0) return fields_json(settings.evaluation);
  if (key == "prices") return prices_json(settings);
  if (key == "carbon" && settings.carbon) return fields_json(*settings.carbon);
  if (key == "phases" && !settings.phases.empty()) return phases_json(settings.phases);
  if (key == "adapt" && settings.adapt) return fields_json(*settings.adapt);
  if (key == "storage" && settings.storage) return growth_json(*settings.storage);
  if (key == "convergence" && settings.convergence) return convergence_json(*settings.convergence);
  return nullptr;
}

}  // namespace

Json campaign_settings_json(const CampaignSettings& settings) {
  Json json = Json::object();
  add_fields(json, settings, [&](std::string_view key) {
    if (auto group = group_json(settings, key); !group.is_null()) json[std::string{key}] = std::move(group);
  });
  return json;
}

}  // namespace gradway::report
