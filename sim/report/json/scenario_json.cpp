// SPDX-License-Identifier: Apache-2.0
#include "sim/report/json/scenario_json.hpp"

#include <fmt/format.h>

#include "sim/cost/calibration_words.hpp"
#include "sim/report/text/text.hpp"
#include "sim/report/text/words.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

Json job_json(const Job& job) {
  Json json{{"gpus", job.gpus},
            {"batch_per_gpu", job.batch_per_gpu},
            {"precision", name_of(job.precision)},
            {"accumulate", job.accumulate},
            {"attention", name_of(job.attention)},
            {"memory_format", job.channels_last ? "channels_last" : "contiguous"},
            {"compile", job.compiled},
            {"frees_early", job.frees_early}};
  if (job.sequence > 0) json["sequence"] = job.sequence;
  return json;
}

Json input_json(const InputSettings& input) {
  return {{"pin_memory", input.pin_memory},
          {"loader_workers", input.loader_workers},
          {"background_copy", exact_bytes_text(input.background_copy)}};
}

Json traffic_json(const std::vector<BackgroundFlow>& traffic) {
  Json list = Json::array();
  for (const auto& flow : traffic) {
    Json one{{"from", flow.from}, {"to", flow.to}};
    if (flow.rate) {
      one["rate"] = fmt::format("{} B/s", flow.rate->value());
    } else {
      one["load"] = flow.load;
    }
    one["weight"] = flow.weight;
    list.push_back(std::move(one));
  }
  return list;
}

Json anchor_json(const Anchor& anchor) {
  return {{"gpu", anchor.gpu},
          {"precision", name_of(anchor.precision)},
          {"batch", anchor.batch},
          {"optimizer", name_of(anchor.optimizer)},
          {"step_time", fmt::format("{} s", anchor.step_time.value())},
          {"source", anchor.source}};
}

/// Only what is not as built.
Json speeds_json(const Speeds& speeds) {
  Json json = Json::object();
  for (const auto part : all_parts)
    if (speeds[part] != 1) json[std::string{key_of(part)}] = speeds[part];
  return json;
}

}  // namespace

Json scenario_json(const Scenario& scenario) {
  Json json{{"schema", 1}};
  if (trains(scenario.job.strategy)) json["model"] = scenario.model.name;
  json.update({{"platform", scenario.platform.name},
               {"job", job_json(scenario.job)},
               {"strategy", strategy_json(scenario.job.strategy)},
               {"optimizer", name_of(scenario.job.optimizer)},
               {"nccl", Json::object()},
               {"input", input_json(scenario.job.input)},
               {"steps", scenario.job.steps}});
  for (const auto& [name, value] : scenario.job.nccl) json["nccl"][name] = value;
  if (!scenario.job.traffic.empty()) json["traffic"] = traffic_json(scenario.job.traffic);
  if (!scenario.platform.speeds.as_built()) json["faster"] = speeds_json(scenario.platform.speeds);
  if (scenario.anchor) json["anchor"] = anchor_json(*scenario.anchor);
  return json;
}

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
