// SPDX-License-Identifier: Apache-2.0
#include "sim/report/text/ranking.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

Json winner_json(const Leaders& leaders) {
  const auto winner = leaders.winner();
  return winner ? Json(*winner) : Json{};
}

Json level_json(const Leaders& leaders) {
  if (!leaders.level()) return nullptr;
  return {{"runs", leaders.which}, {"difference", leaders.difference}};
}

}  // namespace

void add_ranking(Json& document, const Ranking& ranking) {
  document["fastest"] = winner_json(ranking.fastest);
  document["cheapest"] = winner_json(ranking.cheapest);
  document["shortest_step"] = winner_json(ranking.shortest_step);
  document["level"] = {{"fastest", level_json(ranking.fastest)},
                       {"cheapest", level_json(ranking.cheapest)},
                       {"shortest_step", level_json(ranking.shortest_step)}};
}

}  // namespace gradway::report
