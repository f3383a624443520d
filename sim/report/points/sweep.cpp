// SPDX-License-Identifier: Apache-2.0
#include "sim/report/points/sweep.hpp"

#include <algorithm>
#include <ostream>

#include <nlohmann/json.hpp>

#include "sim/base/contract.hpp"
#include "sim/report/format/comparison_json.hpp"
#include "sim/report/format/json_document.hpp"
#include "sim/report/format/text.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

/// Names of the metrics, from the first report.
std::vector<std::string> metric_names(const Sweep& sweep) {
  std::vector<std::string> names;
  const auto first = std::ranges::find_if(sweep.points, &std::string::empty, &SweepPoint::error);
  if (first == sweep.points.end()) return names;
  for (const auto& metric : first->result.metrics) names.push_back(metric.name);
  return names;
}

/// The value as in JSON; empty if it is unknown.
std::string metric_cell(const PointResult& result, const std::string& name) {
  const auto metric = std::ranges::find(result.metrics, name, &PointMetric::name);
  return metric != result.metrics.end() && metric->value ? serialized(value_json(*metric)) : "";
}

std::string in_lines(const Json& json) {
  return serialized(json, 2);
}

/// An entry of `runs`: the settings of a point, then its report or its error.
std::string run_text(const Sweep& sweep, const SweepPoint& point) {
  Json run = Json::object();
  for (std::size_t i = 0; i < sweep.axes.size(); ++i) run["set"][sweep.axes[i].key] = point.values[i];
  if (!point.error.empty()) {
    run["error"] = point.error;
    return in_lines(run);
  }
  expects(point.report.starts_with("{\n"), "a point of a document has its report");
  std::string_view report = point.report;
  if (report.ends_with('\n')) report.remove_suffix(1);
  if (run.empty()) return std::string{report};
  auto text = in_lines(run);
  text.resize(text.size() - 2);  // a line break and the brace
  return text.append(",").append(report.substr(1));
}

/// Writes a text by lines, all but the first one level deeper.
void write_indented(std::ostream& out, std::string_view text) {
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    out << text.substr(0, end + 1) << "    ";
    text.remove_prefix(end + 1);
  }
  out << text;
}

}  // namespace

Ranking ranking_of(const Sweep& sweep) {
  std::vector<std::optional<Choice>> time_of_sample(sweep.points.size());
  auto cost_of_sample = time_of_sample;
  auto time_of_step = time_of_sample;
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    const auto& result = sweep.points[i].result;
    if (!sweep.points[i].error.empty() || !result.fits()) continue;
    const Seconds step{result.figure("step_time_s")};
    time_of_sample[i] = Choice{1 / result.figure("samples_per_s"), step, result.errors};
    time_of_step[i] = Choice{step.value(), step, result.errors};
    if (const auto cost = result.known("cost_usd_per_million_samples"))
      cost_of_sample[i] = Choice{*cost, step, result.errors};
  }
  return {leaders_of(time_of_sample), leaders_of(cost_of_sample), leaders_of(time_of_step)};
}

void write_csv(std::ostream& out, const Sweep& sweep) {
  const auto names = metric_names(sweep);
  for (const auto& axis : sweep.axes) out << csv_cell(axis.key) << ',';
  for (const auto& name : names) out << name << ',';
  out << "fits,provenance,error\n";
  for (const auto& point : sweep.points) {
    for (const auto& value : point.values) out << csv_cell(value) << ',';
    for (const auto& name : names) out << metric_cell(point.result, name) << ',';
    if (point.error.empty())
      out << (point.result.may_not_fit ? ","
              : point.result.fits()    ? "true,"
                                       : "false,")
          << point.result.provenance << ',';
    if (!point.error.empty()) out << ",,";
    out << csv_cell(first_line(point.error)) << '\n';
  }
}

void write_json(std::ostream& out, const Sweep& sweep, std::string_view version) {
  Json vary = Json::array();
  for (const auto& axis : sweep.axes) vary.push_back({{"key", axis.key}, {"values", axis.values}});
  Json document{{"schema", 1}, {"gradway", version}, {"vary", std::move(vary)}, {"runs", Json::array()}};
  add_ranking(document, ranking_of(sweep));
  const auto text = in_lines(document);
  // A line break in a text is escaped.
  constexpr std::string_view place = "\n  \"runs\": []";
  const auto insertion = text.find(place) + place.size() - 1;
  out << std::string_view{text}.substr(0, insertion);
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    out << (i == 0 ? "\n    " : ",\n    ");
    write_indented(out, run_text(sweep, sweep.points[i]));
  }
  out << (sweep.points.empty() ? "" : "\n  ") << std::string_view{text}.substr(insertion) << '\n';
}

}  // namespace gradway::report
