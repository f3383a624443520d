// SPDX-License-Identifier: Apache-2.0
#include "sim/report/text/ranking.hpp"

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
  for (const auto i : leaders.which) ahead.push_back(*leaders.first_is_ahead[i]);
  return {{"runs", leaders.which}, {"first_is_ahead", std::move(ahead)}, {"difference", leaders.difference}};
}

}  // namespace

void add_ranking(Json& document, const Ranking& ranking) {
  document["fastest"] = winner_json(ranking.fastest);
  document["cheapest"] = winner_json(ranking.cheapest);
  document["shortest_step"] = winner_json(ranking.shortest_step);
  document["tied"] = {{"fastest", tied_json(ranking.fastest)},
                      {"cheapest", tied_json(ranking.cheapest)},
                      {"shortest_step", tied_json(ranking.shortest_step)}};
}

}  // namespace gradway::report
