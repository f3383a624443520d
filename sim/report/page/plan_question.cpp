// SPDX-License-Identifier: Apache-2.0
#include "sim/report/page/plan_question.hpp"

#include <cmath>
#include <cstdint>
#include <ostream>
#include <utility>

#include <nlohmann/json.hpp>

#include "sim/base/problem.hpp"
#include "sim/report/campaign/campaign_points.hpp"
#include "sim/report/format/figures.hpp"
#include "sim/report/format/json_document.hpp"
#include "sim/report/format/words.hpp"
#include "sim/report/search/layouts.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse_damaged() {
  refuse("the question of the page is damaged", "load the page again; web/DATA.md describes questions");
}

int whole(const Json& json, int least, int most) {
  if (!json.is_number_integer()) refuse_damaged();
  const auto value = json.get<std::int64_t>();
  if (value < least || value > most) refuse_damaged();
  return static_cast<int>(value);
}

std::vector<Override> overrides_of(const Json& pairs) {
  std::vector<Override> overrides;
  for (const auto& pair : pairs)
    overrides.push_back({pair.at(0).get<std::string>(), pair.at(1).get<std::string>()});
  return overrides;
}

Json search_json(const LayoutOnCluster& planned, std::string_view version) {
  const auto& [scenario, chosen, search] = planned;
  if (search.ranked.empty()) return nullptr;
  const LayoutSearchReport search_report{
      .written = scenario,
      .engine = "fluid",
      .global_batch = static_cast<int>(std::lround(scenario.job.samples())),
      .found = search};
  return json_document(search_report, version).json();
}

PlanQuestion question_of(const Json& json) {
  PlanQuestion question{.plan = {.model = json.at("model"),
                                 .framework = json.at("framework"),
                                 .global_batch = whole(json.at("global_batch"), 0, most_samples_per_step),
                                 .failures = json.at("failures"),
                                 .set = overrides_of(json.at("set"))},
                        .clusters = {},
                        .deadline = json.at("deadline"),
                        .budget = json.at("budget"),
                        .seeds = whole(json.at("seeds"), 1, most_planned_seeds)};
  for (const auto& cluster : json.at("clusters"))
    question.clusters.push_back({cluster.at("platform"), whole(cluster.at("gpus"), 1, most_planned_gpus),
                                 overrides_of(cluster.at("layout"))});
  if (question.clusters.empty()) refuse_damaged();
  auto& compared = question.plan.compared_gpus;
  if (json.contains("compared_gpus")) {
    for (const auto& gpus : json.at("compared_gpus")) compared.push_back(whole(gpus, 1, most_planned_gpus));
  } else {
    for (const auto& cluster : question.clusters) compared.push_back(cluster.gpus);
  }
  return question;
}

}  // namespace

PlanQuestion read_plan_question(std::string_view text, const DataPath& data) {
  PlanQuestion question;
  try {
    question = question_of(Json::parse(text));
  } catch (const Json::exception&) {
    refuse_damaged();
  }
  find_name(DataKind::model, question.plan.model, data);
  for (const auto& cluster : question.clusters) find_name(DataKind::platform, cluster.platform, data);
  return question;
}

void write_plan_layout(std::ostream& out, const LayoutOnCluster& planned, std::string_view version) {
  const auto& [scenario, chosen, search] = planned;
  Json layout = Json::array();
  for (const auto& setting : layout_keys(scenario)) layout.push_back({setting.key, setting.value});
  Json answer{{"layout", std::move(layout)}, {"words", describe_briefly(scenario.job)}};
  answer.update(figures_json(chosen, {"step_time_s", "interval", "tokens_per_s_per_gpu", "mfu",
                                      "memory_needed_bytes", "memory_verdict"}));
  answer["search"] = search_json(planned, version);
  out << serialized(answer);
}

}  // namespace gradway::report
