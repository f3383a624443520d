// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/comparison_json.hpp"

#include <array>

#include <nlohmann/json.hpp>

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

Json winner_json(const Leaders& leaders) {
  const auto winner = leaders.winner();
  return winner ? Json(*winner) : Json{};
}

Json tied_json(const Leaders& leaders) {
  if (!leaders.tied()) return nullptr;
  Json ahead = Json::array();
  for (const auto i : leaders.which) ahead.push_back(*leaders.probability_first_leads[i]);
  return {{"runs", leaders.which}, {"first_is_ahead", std::move(ahead)}, {"difference", leaders.difference}};
}

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json met_json(const std::optional<LimitStatus>& met) {
  constexpr std::array words{"yes", "may", "no"};
  return met ? Json(words[static_cast<std::size_t>(*met)]) : Json(nullptr);
}

}  // namespace

void add_ranking(Json& document, const std::vector<std::pair<std::string, Leaders>>& leaders) {
  Json tied = Json::object();
  for (const auto& [name, of_it] : leaders) {
    document[name] = winner_json(of_it);
    tied[name] = tied_json(of_it);
  }
  document["tied"] = std::move(tied);
}

void add_ranking(Json& document, const Ranking& ranking) {
  add_ranking(document, {{"fastest", ranking.fastest},
                         {"cheapest", ranking.cheapest},
                         {"shortest_step", ranking.shortest_step}});
}

Json training_json(const Training& training) {
  Json json{{"tokens", or_null(training.tokens)},
            {"samples", training.samples},
            {"steps", training.steps},
            {"seconds", training.seconds.value},
            {"seconds_low", training.seconds.low},
            {"seconds_high", training.seconds.high},
            {"cost_usd", nullptr},
            {"cost_usd_low", nullptr},
            {"cost_usd_high", nullptr},
            {"deadline_s", nullptr},
            {"deadline_met", met_json(training.in_time)},
            {"budget_usd", or_null(training.budget_usd)},
            {"budget_met", met_json(training.in_budget)}};
  if (training.usd) {
    json["cost_usd"] = training.usd->value;
    json["cost_usd_low"] = training.usd->low;
    json["cost_usd_high"] = training.usd->high;
  }
  if (training.deadline) json["deadline_s"] = training.deadline->value();
  return json;
}

}  // namespace gradway::report
