// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/ranking.hpp"

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

}  // namespace gradway::report
