// SPDX-License-Identifier: Apache-2.0
#include "sim/report/search/layouts.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/report/format/comparison_json.hpp"
#include "sim/report/format/json_values.hpp"
#include "sim/report/format/provenance_words.hpp"
#include "sim/report/format/warning_words.hpp"
#include "sim/report/format/words.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

Json settings_json(const Job& job) {
  Json set = Json::object();
  for (const auto& [key, value] : settings_of(job)) set[key] = value;
  return set;
}

Json tried_layout_json(const LayoutSearchReport& search_report, std::size_t i) {
  const auto& tried = search_report.found.ranked[i];
  const auto& metrics = tried.metrics;
  Json json{{"set", settings_json(tried.job)},
            {"step_time_s", metrics.step_time.value()},
            {"interval", {tried.range.low.value(), tried.range.high.value()}},
            {"samples_per_s", metrics.samples_per_s},
            {"tokens_per_s_per_gpu", nullptr},
            {"mfu", or_null(metrics.mfu)},
            {"bubble_s", or_null(metrics.bubble)},
            {"memory_needed_bytes", tried.memory.value()},
            {"memory_verdict", name_of(tried.verdict)},
            {"cost_usd_per_million_samples", or_null(metrics.cost_usd_per_million_samples)},
            {"tied_with_fastest", search_report.found.leaders.has(i)},
            {"on_front", bool{search_report.found.on_front[i]}}};
  if (metrics.tokens_per_s) json["tokens_per_s_per_gpu"] = *metrics.tokens_per_s / tried.job.gpus;
  if (search_report.goal)
    json["training"] = training_json(training_of(*search_report.goal, metrics, tried.range));
  return json;
}

}  // namespace

SnippetModel LayoutSearchReport::shape() const {
  const auto& model = written.model;
  return {blocks_of(model).count, model.tokens_per_sample, model.experts.number > 0};
}

std::string LayoutSearchReport::hardware() const {
  return hardware_in_words(written.platform, written.job.gpus);
}

JsonDocument json_document(const LayoutSearchReport& search_report, std::string_view version) {
  const auto& search = search_report.found;
  Json layouts = Json::array();
  for (std::size_t i = 0; i < search.ranked.size(); ++i)
    layouts.push_back(tried_layout_json(search_report, i));
  Json left_out = Json::array();
  for (const auto& layout : search.unfit)
    left_out.push_back({{"set", settings_json(layout.job)},
                        {"reason", "does not fit"},
                        {"memory_needed_bytes", layout.memory.value()}});
  for (const auto& layout : search.refused)
    left_out.push_back({{"set", settings_json(layout.job)}, {"reason", layout.failure_reason}});
  Json worth = Json::array();
  for (const auto& gain : search.key_gains) {
    auto& item = worth.emplace_back(
        Json{{"step_time_s", gain.metrics.step_time.value()}, {"memory_needed_bytes", gain.memory.value()}});
    for (const auto& [key, value] : gain.set) item["set"][key] = value;
  }
  const auto& best = search.recommended();
  const auto snippet = layout_snippet(best.job, search_report.shape());
  Json document{{"schema", 1},
                {"gradway", version},
                {"scenario", search_report.written.name},
                {"model", search_report.written.model.name},
                {"platform", search_report.written.platform.name},
                {"engine", search_report.engine},
                {"global_batch", search_report.global_batch},
                {"layouts", std::move(layouts)},
                {"recommended", search.recommended_index()},
                {"candidates", search.candidates},
                {"do_not_fit", search.do_not_fit},
                {"simulated", search.simulated},
                {"slower", search.slower},
                {"not_searched", std::move(worth)},
                {"left_out", std::move(left_out)},
                {"basis", describe(best.basis)},
                {"warnings", describe(best.warnings)},
                {"warning_codes", codes_of(best.warnings)},
                {snippet.framework, snippet.text}};
  if (search.not_tried > 0) document["not_tried"] = search.not_tried;
  return document;
}

}  // namespace gradway::report
