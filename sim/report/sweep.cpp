// SPDX-License-Identifier: Apache-2.0
#include "sim/report/sweep.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <ostream>

#include <nlohmann/json.hpp>

#include "sim/report/csv.hpp"

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
    for (const auto& [name, value] : metrics.items()) names.push_back(name);
    break;
  }
  return names;
}

/// The point of which a metric compares best, the first of them; none if no point has the metric.
/// @param missing what a metric that is null counts as; NaN: the point does not count
template <class Better>
std::optional<std::size_t> best_by(const Sweep& sweep, const char* metric, double missing, Better better) {
  std::optional<std::size_t> best;
  double value = 0;
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    if (!sweep.points[i].error.empty()) continue;
    const auto metrics = metrics_of(sweep.points[i]);
    const auto own = metrics.at(metric).is_null() ? missing : metrics.at(metric).get<double>();
    if (std::isnan(own) || (best && !better(own, value))) continue;
    best = i;
    value = own;
  }
  return best;
}

std::optional<std::size_t> cheapest(const Sweep& sweep) {
  return best_by(sweep, "cost_usd_per_million_samples", std::nan(""), std::less{});
}

Json index_json(std::optional<std::size_t> index) {
  return index ? Json(*index) : Json{};
}

}  // namespace

std::optional<std::size_t> fastest(const Sweep& sweep) {
  // What JSON cannot hold is null there, and infinite.
  return best_by(sweep, "samples_per_s", std::numeric_limits<double>::infinity(), std::greater{});
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
  const auto is_figure = [](const Json& value) { return value.is_number() || value.is_null(); };
  return metrics.is_object() && std::ranges::all_of(metrics, is_figure) &&
         std::ranges::all_of(shown_metrics, [&](const char* name) { return metrics.contains(name); });
}

void write_csv(std::ostream& out, const Sweep& sweep) {
  const auto names = metric_names(sweep);
  for (const auto& axis : sweep.axes) out << csv_cell(axis.key) << ',';
  for (const auto& name : names) out << name << ',';
  out << "error\n";
  for (const auto& point : sweep.points) {
    for (const auto& value : point.values) out << csv_cell(value) << ',';
    const auto metrics = point.error.empty() ? metrics_of(point) : Json{};
    for (const auto& name : names) {
      if (point.error.empty() && !metrics.at(name).is_null()) out << metrics.at(name).dump();
      out << ',';
    }
    out << csv_cell(first_line(point.error)) << '\n';
  }
}

void write_json(std::ostream& out, const Sweep& sweep, std::string_view version) {
  Json vary = Json::array();
  for (const auto& axis : sweep.axes) vary.push_back({{"key", axis.key}, {"values", axis.values}});
  Json runs = Json::array();
  for (const auto& point : sweep.points) {
    Json run;
    for (std::size_t i = 0; i < sweep.axes.size(); ++i) run["set"][sweep.axes[i].key] = point.values[i];
    if (point.error.empty()) {
      run.update(Json::parse(point.report));
    } else {
      run["error"] = point.error;
    }
    runs.push_back(std::move(run));
  }
  const Json all{{"schema", 1},
                 {"gradway", version},
                 {"vary", std::move(vary)},
                 {"runs", std::move(runs)},
                 {"fastest", index_json(fastest(sweep))},
                 {"cheapest", index_json(cheapest(sweep))}};
  out << all.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace gradway::report
