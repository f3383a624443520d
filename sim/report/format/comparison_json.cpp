// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/comparison_json.hpp"

#include <array>

#include <nlohmann/json.hpp>

#include "sim/report/format/json_values.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

Json tied_json(const Leaders& leaders) {
  if (!leaders.tied()) return nullptr;
  Json ahead = Json::array();
  for (const auto i : leaders.which) ahead.push_back(*leaders.probability_first_leads[i]);
  return {{"runs", leaders.which}, {"first_is_ahead", std::move(ahead)}, {"difference", leaders.difference}};
}

Json met_json(const std::optional<LimitStatus>& met) {
  constexpr std::array words{"yes", "may", "no"};
  return met ? Json(words[static_cast<std::size_t>(*met)]) : Json(nullptr);
}

}  // namespace

void add_ranking(Json& document, const std::vector<std::pair<std::string, Leaders>>& leaders) {
  Json tied = Json::object();
  for (const auto& [name, of_it] : leaders) {
    document[name] = or_null(of_it.winner());
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
  const auto cost = [&](double Expected::*part) {
    return training.usd ? Json((*training.usd).*part) : Json(nullptr);
  };
  return {{"tokens", or_null(training.tokens)},
          {"samples", training.samples},
          {"steps", training.steps},
          {"seconds", training.seconds.value},
          {"seconds_low", training.seconds.low},
          {"seconds_high", training.seconds.high},
          {"cost_usd", cost(&Expected::value)},
          {"cost_usd_low", cost(&Expected::low)},
          {"cost_usd_high", cost(&Expected::high)},
          {"deadline_s", or_null(training.deadline)},
          {"deadline_met", met_json(training.in_time)},
          {"budget_usd", or_null(training.budget_usd)},
          {"budget_met", met_json(training.in_budget)}};
}

}  // namespace gradway::report
