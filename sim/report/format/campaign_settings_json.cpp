// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/scenario_json.hpp"

#include <nlohmann/json.hpp>

#include "sim/report/format/fields_json.hpp"
#include "sim/scenario/value_text.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

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
