// SPDX-License-Identifier: Apache-2.0
#include "sim/report/page/run_document.hpp"

#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/report/format/json_document.hpp"
#include "sim/report/format/words.hpp"
#include "sim/report/page/page_parts.hpp"
#include "sim/report/run/json.hpp"
#include "sim/run/whole_timeline.hpp"

namespace gradway::report {

nlohmann::ordered_json start_of(std::string_view kind, std::string_view scenario, std::string_view title,
                                std::string_view version) {
  return {{"schema", 1}, {"gradway", version}, {"kind", kind}, {"scenario", scenario}, {"title", title}};
}

std::string title_of(const Scenario& scenario) {
  const auto& job = scenario.job;
  return fmt::format("{} on {}", trains(job.strategy) ? scenario.model.name : describe(job.strategy),
                     hardware_in_words(scenario.platform, job.gpus));
}

nlohmann::ordered_json headline(const Run& run) {
  const auto& job = run.scenario.job;
  const bool is_collective = !trains(job.strategy);
  return {{"model", is_collective ? "" : run.scenario.model.name},
          {"hardware", hardware_in_words(run.scenario.platform, job.gpus)},
          {"strategy", describe(job.strategy)}};
}

nlohmann::ordered_json run_document(const Run& run, const Run& drawn, std::string_view version,
                                    const RunQuestions& questions) {
  auto data = start_of("run", run.scenario.name, title_of(run.scenario), version);
  data["headline"] = headline(run);
  data["report"] = json_document(run, version, questions).json();
  data["timeline"] = timeline_json(drawn);
  if (auto pipeline = pipeline_json(drawn); !pipeline.is_null()) data["pipeline"] = std::move(pipeline);
  data["buckets"] = buckets_json(drawn);
  data["use"] = use_json(drawn);
  if (auto memory = memory_over_step_json(run); !memory.is_null())
    data["memory_over_step"] = std::move(memory);
  data["platform"] = platform_json(drawn);
  return data;
}

std::vector<std::string_view> layout_axes(const Model& model) {
  if (model.profile) return {};
  std::vector<std::string_view> axes{"pipeline"};
  if (model.tensor) axes.emplace_back("tensor");
  if (model.causal_heads > 0) axes.emplace_back("context");
  if (model.experts.number > 0) axes.emplace_back("expert");
  return axes;
}

namespace {

void write_with(std::ostream& out, const Run& run, nlohmann::ordered_json document, const std::string& yaml) {
  document["axes"] = layout_axes(run.scenario.model);
  document["yaml"] = yaml;
  out << serialized(document);
}

}  // namespace

void write_figures(std::ostream& out, const Run& run, std::string_view version, const RunQuestions& questions,
                   const std::string& yaml) {
  write_with(out, run, {{"report", json_document(run, version, questions).json()}}, yaml);
}

void write_run_document(std::ostream& out, const Run& run, const std::string& engine,
                        std::string_view version, const RunQuestions& questions, const std::string& yaml) {
  const auto whole_run = with_whole_timeline(run, engine);
  write_with(out, run, run_document(run, whole_run ? *whole_run : run, version, questions), yaml);
}

}  // namespace gradway::report
