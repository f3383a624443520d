// SPDX-License-Identifier: Apache-2.0
#include "sim/report/points/sweep.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <ostream>

#include <nlohmann/json.hpp>

#include "sim/report/format/csv.hpp"
#include "sim/report/format/errors_json.hpp"
#include "sim/report/format/ranking.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

/// What the tables, pages and documents of a sweep read of each point.
constexpr std::array shown_metrics{"step_time_s", "samples_per_s", "exposed_communication_s",
                                   "cost_usd_per_million_samples"};

/// The metrics of a point that has a report.
Json metrics_of(const SweepPoint& point) {
  return Json::parse(point.report).at("metrics");
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

/// Names of the metrics, from the first report; all reports have the same.
std::vector<std::string> metric_names(const Sweep& sweep) {
  std::vector<std::string> names;
  for (const auto& point : sweep.points) {
    if (!point.error.empty()) continue;
    const auto metrics = metrics_of(point);
    for (const auto& [name, value] : metrics.items())
      if (!value.is_object()) names.push_back(name);
    break;
  }
  return names;
}

/// A metric's value. What JSON cannot hold is null there, and infinite.
double number(const Json& metrics, const char* name) {
  const auto& value = metrics.at(name);
  return value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>();
}

std::string in_lines(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

/// A point as it stands under `runs`.
Json run_json(const Sweep& sweep, const SweepPoint& point) {
  Json run;
  for (std::size_t i = 0; i < sweep.axes.size(); ++i) run["set"][sweep.axes[i].key] = point.values[i];
  if (point.error.empty()) {
    run.update(Json::parse(point.report));
  } else {
    run["error"] = point.error;
  }
  return run;
}

}  // namespace

Ranking ranking_of(const Sweep& sweep) {
  std::vector<std::optional<Choice>> time_of_sample(sweep.points.size());
  auto cost_of_sample = time_of_sample;
  auto time_of_step = time_of_sample;
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    if (!sweep.points[i].error.empty()) continue;
    const auto report = Json::parse(sweep.points[i].report);
    if (!report.at("fits").get<bool>()) continue;
    const auto& metrics = report.at("metrics");
    const Seconds step{number(metrics, "step_time_s")};
    const auto errors = errors_of(report.at("doubts"));
    time_of_sample[i] = Choice{1 / number(metrics, "samples_per_s"), step, errors};
    time_of_step[i] = Choice{step.value(), step, errors};
    if (!metrics.at("cost_usd_per_million_samples").is_null())
      cost_of_sample[i] = Choice{number(metrics, "cost_usd_per_million_samples"), step, errors};
  }
  return {leaders_of(time_of_sample), leaders_of(cost_of_sample), leaders_of(time_of_step)};
}

bool is_report(std::string_view text) {
  // What is nested deeper than any report is left out while it is read: to copy it would take a stack as
  // deep.
  constexpr int deepest = 16;
  bool is_flat = true;
  const auto json = Json::parse(
      text,
      [&](int depth, Json::parse_event_t, Json&) {
        is_flat = is_flat && depth <= deepest;
        return is_flat;
      },
      false);
  if (!is_flat || !json.is_object() || json.value("schema", Json{}) != 1) return false;
  const auto metrics = json.value("metrics", Json{});
  const auto is_one = [](const Json& value) { return value.is_number() || value.is_null(); };
  const auto is_figure = [&](const Json& value) {
    return is_one(value) || (value.is_object() && std::ranges::all_of(value, is_one));
  };
  const bool is_told = json.contains("doubts") && json.value("fits", Json{}).is_boolean();
  return is_told && metrics.is_object() && std::ranges::all_of(metrics, is_figure) &&
         std::ranges::all_of(shown_metrics, [&](const char* name) { return metrics.contains(name); });
}

void write_csv(std::ostream& out, const Sweep& sweep) {
  const auto names = metric_names(sweep);
  for (const auto& axis : sweep.axes) out << csv_cell(axis.key) << ',';
  for (const auto& name : names) out << name << ',';
  out << "fits,rests_on,error\n";
  for (const auto& point : sweep.points) {
    for (const auto& value : point.values) out << csv_cell(value) << ',';
    const auto report = point.error.empty() ? Json::parse(point.report) : Json{};
    for (const auto& name : names) {
      if (!report.is_null() && !report["metrics"].at(name).is_null()) out << report["metrics"][name].dump();
      out << ',';
    }
    if (!report.is_null()) out << report.at("fits").dump() << ',' << report.at("rests_on").get<std::string>();
    out << (report.is_null() ? ",," : ",");
    out << csv_cell(first_line(point.error)) << '\n';
  }
}

void write_json(std::ostream& out, const Sweep& sweep, std::string_view version) {
  Json vary = Json::array();
  for (const auto& axis : sweep.axes) vary.push_back({{"key", axis.key}, {"values", axis.values}});
  Json all{{"schema", 1}, {"gradway", version}, {"vary", std::move(vary)}, {"runs", Json::array()}};
  add_ranking(all, ranking_of(sweep));
  const auto text = in_lines(all);
  // Point by point: as values, those of a hundred thousand would fill the memory. A line break in a text is
  // written otherwise.
  constexpr std::string_view place = "\n  \"runs\": []";
  const auto at = text.find(place) + place.size() - 1;
  out << std::string_view{text}.substr(0, at);
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    out << (i == 0 ? "\n    " : ",\n    ");
    for (const char c : in_lines(run_json(sweep, sweep.points[i]))) {
      out << c;
      if (c == '\n') out << "    ";
    }
  }
  out << (sweep.points.empty() ? "" : "\n  ") << std::string_view{text}.substr(at) << '\n';
}

}  // namespace gradway::report
