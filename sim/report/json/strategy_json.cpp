// SPDX-License-Identifier: Apache-2.0
#include "sim/report/json/strategy_json.hpp"

#include "sim/cost/calibration_words.hpp"
#include "sim/report/text/text.hpp"
#include "sim/report/text/words.hpp"

namespace gradway::report {

nlohmann::ordered_json strategy_json(const Strategy& strategy) {
  nlohmann::ordered_json json{{"kind", name_of(strategy.kind)}};
  if (strategy.kind == StrategyKind::none) return json;
  if (strategy.kind == StrategyKind::collective) {
    json["operation"] = calibration_words::operations[static_cast<std::size_t>(strategy.collective.kind)];
    json["size"] = exact_bytes_text(strategy.collective.size);
    json["timed"] = strategy.collective.one_by_one ? "one_by_one" : "back_to_back";
    return json;
  }
  if (strategy.bucket_cap) json["bucket_cap"] = exact_bytes_text(*strategy.bucket_cap);
  json["static_graph"] = strategy.static_graph;
  json["gradient_as_bucket_view"] = strategy.gradient_as_bucket_view;
  json["comm_hook"] = name_of(strategy.comm_hook);
  if (strategy.comm_hook == CommHook::powersgd) json["powersgd_rank"] = strategy.powersgd_rank;
  return json;
}

}  // namespace gradway::report
