// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "observe/measured/measured_step.hpp"
#include "sim/report/format/json_document.hpp"
#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"

namespace gradway::report {
namespace {

std::string_view place_in_interval(const MeasuredStep& measured, const Run& run) {
  if (measured.time > run.range.high) return "above";
  return measured.time < run.range.low ? "below" : "inside";
}

constexpr std::array<std::string_view, 5> verdicts{"expected", "inside", "fast", "slow", "undecided"};

std::string verdict_text(StepVerdict verdict, const Run& run) {
  switch (verdict) {
    case StepVerdict::expected:
      return "as expected: nothing needs an explanation";
    case StepVerdict::inside:
      return "it may be healthy; if you know that it should be shorter:";
    case StepVerdict::fast:
      return "faster than predicted: check that the scenario describes this run";
    case StepVerdict::slow:
      return "slow: 19 of 20 healthy runs of this job are shorter";
    case StepVerdict::undecided:
      break;
  }
  return fmt::format(
      "undecided: no kernels were timed on {}, so that the prediction alone cannot call the run slow; "
      "published steps on this GPU and a trace ('gradway diagnose') can",
      run.scenario.platform.gpu_models.front().name);
}

void write_row(std::ostream& out, std::string_view name, const std::string& value, const Style& style) {
  constexpr std::size_t indent = 15;
  const auto lines = wrap(value, std::max<std::size_t>(style.width, 40) - indent);
  for (std::size_t i = 0; i < lines.size(); ++i)
    out << fmt::format("  {:<12} {}\n", i == 0 ? name : "", lines[i]);
}

std::string throughput_text(const PublishedStep& step) {
  return step.tokens > 0 ? digits_text(step.samples * step.tokens, 4) + " tokens/s"
                         : digits_text(step.samples, 4) + " samples/s";
}

/// Steps that the shipped cases have of this GPU.
void write_published(std::ostream& out, const MeasuredStep& measured, const Run& run, const Style& style) {
  if (measured.published.empty()) return;
  out << fmt::format("\n  Measured on {}, the most alike first:\n\n",
                     run.scenario.platform.gpu_models.front().name);
  using enum Table::Align;
  Table table{{{"model", left},
               {"GPUs", right},
               {"strategy", left},
               {"step", right},
               {"per GPU", right},
               {"row", left, 1}}};
  const auto add = [&](const PublishedStep& step, const std::string& name) {
    table.add({step.model, fmt::format("{}", step.gpus), step.strategy, time_text(step.time),
               throughput_text(step), name});
  };
  add(step_of(run.scenario, measured.time), "this run");
  for (const auto& step : measured.published) add(step, step.name);
  table.write(out, style, "  ");
  std::vector<std::string> sources;
  for (const auto& step : measured.published)
    if (std::ranges::find(sources, step.source) == sources.end()) sources.push_back(step.source);
  out << '\n';
  for (const auto& source : sources) write_row(out, &source == &sources.front() ? "from" : "", source, style);
}

/// Causes of a difference, or that there is none.
void write_causes(std::ostream& out, const MeasuredStep& measured, StepVerdict verdict, const Style& style) {
  if (verdict == StepVerdict::expected) return;
  if (measured.causes.empty()) {
    write_row(out, "",
              "no single cause that was simulated explains it: check that the scenario describes this run",
              style);
    return;
  }
  constexpr std::size_t most_causes = 5;
  out << "\n  What could explain it, likeliest first, each simulated alone:\n";
  for (std::size_t i = 0; i < measured.causes.size() && i < most_causes; ++i) {
    const auto& cause = measured.causes[i];
    out << '\n';
    write_row(out, time_text(cause.step_time),
              fmt::format("{} ({} against the measured step)", cause.change.words,
                          signed_percent_text(cause.step_time / measured.time - 1)),
              style);
    write_row(out, "", "decide: " + cause.decide, style);
  }
}

}  // namespace

void write_measured(std::ostream& out, const MeasuredStep& measured, const Run& run, const Style& style) {
  const auto step = run.measured.metrics.step_time;
  const auto difference = measured.time / step - 1;
  const auto verdict = verdict_of(measured, run);
  out << '\n';
  write_row(
      out, "measured",
      fmt::format(
          "{}{}, {} {} than predicted, {} the prediction interval", time_text(measured.time),
          measured.steps > 1 ? fmt::format(" (median of {})", counted_text(measured.steps, "step")) : "",
          percent_text(std::abs(difference)), difference < 0 ? "shorter" : "longer",
          place_in_interval(measured, run)),
      style);
  write_row(out, "verdict", verdict_text(verdict, run), style);
  write_causes(out, measured, verdict, style);
  write_published(out, measured, run, style);
}

void write_measured_json(std::ostream& out, const MeasuredStep& measured, const Run& run) {
  using Json = nlohmann::ordered_json;
  Json json{{"schema", 1},
            {"measured_s", measured.time.value()},
            {"steps", measured.steps},
            {"predicted_s", run.measured.metrics.step_time.value()},
            {"low_s", run.range.low.value()},
            {"high_s", run.range.high.value()},
            {"place", place_in_interval(measured, run)},
            {"verdict", verdicts[static_cast<std::size_t>(verdict_of(measured, run))]}};
  auto& causes = json["causes"] = Json::array();
  for (const auto& cause : measured.causes) {
    Json set = Json::object();
    for (const auto& [key, value] : cause.change.set) set[key] = value;
    causes.push_back({{"name", cause.change.name},
                      {"text", cause.change.words},
                      {"set", std::move(set)},
                      {"step_time_s", cause.step_time.value()},
                      {"decide", cause.decide}});
  }
  auto& published = json["published"] = Json::array();
  for (const auto& step : measured.published)
    published.push_back({{"name", step.name},
                         {"model", step.model},
                         {"gpus", step.gpus},
                         {"strategy", step.strategy},
                         {"step_time_s", step.time.value()},
                         {"samples_per_s_and_gpu", step.samples},
                         {"source", step.source}});
  write(out, JsonDocument{std::move(json)});
}

}  // namespace gradway::report
