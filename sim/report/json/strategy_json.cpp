// SPDX-License-Identifier: Apache-2.0
#include "sim/report/json/strategy_json.hpp"

#include "sim/cost/calibration_words.hpp"
#include "sim/report/text/text.hpp"
#include "sim/report/text/words.hpp"

namespace gradway::report {

nlohmann::ordered_json strategy_json(const Strategy& strategy) {
  nlohmann::ordered_json json{{"kind", name_of(strategy)}};
  if (const auto* call = std::get_if<OneCollective>(&strategy)) {
    json["operation"] = calibration_words::operations[static_cast<std::size_t>(call->kind)];
    json["size"] = exact_bytes_text(call->size);
    json["timed"] = call->one_by_one ? "one_by_one" : "back_to_back";
    return json;
  }
  const auto* ddp = std::get_if<Ddp>(&strategy);
  if (ddp == nullptr) return json;
  if (ddp->bucket_cap) json["bucket_cap"] = exact_bytes_text(*ddp->bucket_cap);
  json["static_graph"] = ddp->static_graph;
  json["gradient_as_bucket_view"] = ddp->gradient_as_bucket_view;
  json["comm_hook"] = name_of(ddp->comm_hook);
  if (ddp->comm_hook == CommHook::powersgd) json["powersgd_rank"] = ddp->powersgd_rank;
  return json;
}

}  // namespace gradway::report
