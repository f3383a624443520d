// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/scenario_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/report/format/fields_json.hpp"

namespace gradway::report {

using Json = nlohmann::ordered_json;

void add_local_sgd_keys(Json& strategy, const LocalSgd& settings) {
  strategy["inner"] = strategy["kind"];
  strategy["kind"] = "local_sgd";
  add_fields(strategy, settings);
}

Json outer_loop_json(const OuterLoop& loop, const LocalSgd& settings) {
  return {{"workers", settings.workers},
          {"inner_steps", loop.steps},
          {"inner_s", loop.inner.value()},
          {"fragments", loop.fragments},
          {"exchange_s", loop.exchange.value()},
          {"pause_s", loop.pause.value()},
          {"sent_bytes", loop.sent.value()},
          {"use", loop.use()},
          {"mean_step_s", loop.mean_step().value()}};
}

}  // namespace gradway::report
