// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/report/format/json_document.hpp"
#include "sim/report/page/page_parts.hpp"
#include "sim/report/page/run_document.hpp"
#include "sim/scenario/campaign.hpp"
#include "sim/scenario/failure_models.hpp"
#include "sim/study/search/training_plan.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

Json platform_json(const ListedPlatform& listed) {
  Json json{
      {"name", listed.name}, {"gpu", nullptr}, {"gpus_per_node", nullptr}, {"cost_usd_per_hour", nullptr}};
  if (!listed.platform) return json;
  const auto& platform = *listed.platform;
  if (!platform.gpu_models.empty()) json["gpu"] = platform.gpu_models.front().name;
  json["gpus_per_node"] = platform.gpus.size() / static_cast<std::size_t>(std::max(1, platform.nodes));
  if (platform.price) json["cost_usd_per_hour"] = platform.price->per_node.value();
  return json;
}

}  // namespace

Json plan_document(const PlanPage& plan, std::string_view version) {
  auto data = start_of("plan", "", "Plan a training", version);
  Json choices = Json::object();
  for (const auto& [key, value] : plan.choices) choices[key] = value;
  Json models = Json::array();
  for (const auto& [name, tokens] : plan.models)
    models.push_back({{"name", name}, {"tokens_per_sample", tokens}});
  Json platforms = Json::array();
  for (const auto& platform : plan.platforms) platforms.push_back(platform_json(platform));
  std::vector<std::string_view> failures{"none"};
  for (const auto name : failure_model_names()) failures.push_back(name);
  data["plan"] = {{"choices", std::move(choices)},
                  {"models", std::move(models)},
                  {"platforms", std::move(platforms)},
                  {"frameworks", planned_frameworks},
                  {"terms", terms_words},
                  {"failures", failures},
                  {"roots", plan.roots}};
  return data;
}

void write_plan_document(std::ostream& out, const PlanPage& plan, std::string_view version) {
  out << serialized(plan_document(plan, version)) << '\n';
}

}  // namespace gradway::report
