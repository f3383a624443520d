// SPDX-License-Identifier: Apache-2.0
#include "sim/report/page/plan_question.hpp"

#include <cmath>
#include <ostream>
#include <utility>

#include <nlohmann/json.hpp>

#include "sim/report/campaign/plan_points.hpp"
#include "sim/report/format/words.hpp"
#include "sim/report/search/layouts.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

std::vector<Override> overrides_of(const Json& pairs) {
  std::vector<Override> overrides;
  for (const auto& pair : pairs)
    overrides.push_back({pair.at(0).get<std::string>(), pair.at(1).get<std::string>()});
  return overrides;
}

Json search_json(const LayoutOnCluster& found, std::string_view version) {
  const auto& [scenario, chosen, search] = found;
  if (search.ranked.empty()) return nullptr;
  const auto& model = scenario.model;
  return json_document({.scenario = scenario.name,
                        .model = model.name,
                        .hardware = hardware_in_words(scenario.platform, scenario.job.gpus),
                        .platform = scenario.platform.name,
                        .engine = "fluid",
                        .written = scenario.job,
                        .shape = {blocks_of(model).count, model.tokens_per_sample, model.experts.number > 0},
                        .global_batch = static_cast<int>(std::lround(scenario.job.samples())),
                        .found = search},
                       version)
      .json();
}

}  // namespace

PlanQuestion read_plan_question(std::string_view text) {
  const auto json = Json::parse(text);
  PlanQuestion question{.plan = {.model = json.at("model"),
                                 .framework = json.at("framework"),
                                 .global_batch = json.at("global_batch"),
                                 .failures = json.at("failures"),
                                 .set = overrides_of(json.at("set"))},
                        .clusters = {},
                        .deadline = json.at("deadline"),
                        .budget = json.at("budget"),
                        .seeds = json.at("seeds")};
  for (const auto& one : json.at("clusters"))
    question.clusters.push_back({one.at("platform"), one.at("gpus"), overrides_of(one.at("layout"))});
  return question;
}

void write_plan_layout(std::ostream& out, const LayoutOnCluster& found, std::string_view version) {
  const auto& [scenario, chosen, search] = found;
  Json layout = Json::array();
  for (const auto& one : layout_keys(scenario)) layout.push_back({one.key, one.value});
  const Json answer{
      {"layout", std::move(layout)},
      {"words", describe(scenario.job.layout, scenario.job)},
      {"step_time_s", chosen.metrics.step_time.value()},
      {"interval", {chosen.range.low.value(), chosen.range.high.value()}},
      {"tokens_per_s_per_gpu",
       chosen.metrics.tokens_per_s ? Json(*chosen.metrics.tokens_per_s / scenario.job.gpus) : Json(nullptr)},
      {"mfu", chosen.metrics.mfu ? Json(*chosen.metrics.mfu) : Json(nullptr)},
      {"memory_needed_bytes", chosen.memory.value()},
      {"memory_verdict", name_of(chosen.verdict)},
      {"search", search_json(found, version)}};
  out << answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace gradway::report
