// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/report/format/json_document.hpp"
#include "sim/report/format/scenario_json.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/search/layouts.hpp"
#include "sim/report/search/snippet_parts.hpp"

namespace gradway::report {
namespace {

/// A map of plain values on one line of YAML.
std::string flow_map(const nlohmann::ordered_json& map) {
  std::vector<std::string> entries;
  for (const auto& [key, value] : map.items())
    entries.push_back(
        fmt::format("{}: {}", key, value.is_string() ? value.get<std::string>() : serialized(value)));
  return fmt::format("{{{}}}", fmt::join(entries, ", "));
}

nlohmann::ordered_json layout_json(const Job& job) {
  const auto& layout = job.layout;
  nlohmann::ordered_json json{{"tensor", layout.tensor}};
  if (layout.tensor > 1) json["sequence"] = layout.sequence;
  if (layout.overlap != Layout{}.overlap && layout.tensor > 1) json["overlap"] = name_of(layout.overlap);
  if (layout.context > 1) {
    json["context"] = layout.context;
    json["context_method"] = name_of(layout.context_method);
  }
  if (layout.expert > 1) json["expert"] = layout.expert;
  if (layout.expert_tensor > 1) json["expert_tensor"] = layout.expert_tensor;
  json["pipeline"] = layout.pipeline;
  if (layout.pipeline > 1) {
    json["virtual"] = layout.chunks;
    json["schedule"] = name_of(layout.schedule);
    if (!layout.stage_layout.empty()) json["stage_layout"] = layout.stage_layout;
  }
  if (const auto replicas = replicas_of(job.strategy); replicas > 1) json["replicate"] = replicas;
  if (layout.order == Layout{}.order) return json;
  std::vector<std::string_view> order;
  for (const auto axis : layout.order) order.push_back(rank_axis_words[static_cast<std::size_t>(axis)]);
  json["order"] = fmt::format("{}", fmt::join(order, "-"));
  return json;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> settings_of(const Job& job) {
  return {{"parallel", flow_map(layout_json(job))},
          {"strategy", flow_map(strategy_json(job.strategy))},
          {"job.batch_per_gpu", fmt::format("{}", job.batch_per_gpu)},
          {"job.accumulate", fmt::format("{}", job.accumulate)},
          {"job.recompute", std::string{name_of(job.recompute)}}};
}

LayoutSnippet layout_snippet(const Job& job, const SnippetModel& model) {
  if (job.framework == Framework::megatron)
    return {"megatron", "megatron.txt", megatron_arguments(job, model)};
  return {"torchtitan", "torchtitan.toml", torchtitan_tables(job, model)};
}

}  // namespace gradway::report
