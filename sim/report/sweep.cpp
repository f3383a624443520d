// SPDX-License-Identifier: Apache-2.0
#include "sim/report/sweep.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <ostream>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/report/csv.hpp"
#include "sim/report/table.hpp"
#include "sim/report/text.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t least_width = 120;

/// The metrics of a point that has a report.
Json metrics_of(const SweepPoint& point) {
  return Json::parse(point.report).at("metrics");
}

/// A metric of a report; one that JSON cannot hold is null there, and infinite.
double number(const Json& metrics, const char* name) {
  const auto& value = metrics.at(name);
  return value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>();
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
template <class Better>
std::optional<std::size_t> best_by(const Sweep& sweep, const char* metric, Better better) {
  std::optional<std::size_t> best;
  double value = 0;
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    if (!sweep.points[i].error.empty()) continue;
    const auto metrics = metrics_of(sweep.points[i]);
    if (metrics.at(metric).is_null()) continue;
    const auto own = metrics.at(metric).get<double>();
    if (best && !better(own, value)) continue;
    best = i;
    value = own;
  }
  return best;
}

std::optional<std::size_t> fastest(const Sweep& sweep) {
  return best_by(sweep, "samples_per_s", std::greater{});
}

std::optional<std::size_t> cheapest(const Sweep& sweep) {
  return best_by(sweep, "cost_usd_per_million_samples", std::less{});
}

Json index_json(std::optional<std::size_t> index) {
  return index ? Json(*index) : Json{};
}

/// Cells behind the varied values: step time, throughput, exposed communication, cost, remark.
std::vector<std::string> result_cells(const SweepPoint& point, bool is_fastest) {
  if (!point.error.empty()) return {"-", "-", "-", "-", "failed"};
  const auto metrics = metrics_of(point);
  const auto step = number(metrics, "step_time_s");
  const auto& cost = metrics.at("cost_usd_per_million_samples");
  return {time_text(Seconds{step}), fmt::format("{:.4g}", number(metrics, "samples_per_s")),
          step > 0 ? percent_text(number(metrics, "exposed_communication_s") / step) : "-",
          cost.is_null() ? "-" : fmt::format("{:.4g}", cost.get<double>()), is_fastest ? "fastest" : ""};
}

/// The reasons of the points that failed, each once.
void write_failures(std::ostream& out, const Sweep& sweep) {
  std::set<std::string> told;
  for (const auto& point : sweep.points) {
    if (!point.error.empty() && told.insert(point.error).second) out << '\n' << point.error;
  }
}

}  // namespace

bool is_report(const std::string& text) {
  const auto json = Json::parse(text, nullptr, false);
  return json.is_object() && json.contains("metrics") && json["metrics"].is_object();
}

void write_table(std::ostream& out, const Sweep& sweep, const Style& style) {
  using enum Table::Align;
  std::vector<Table::Column> columns;
  for (const auto& axis : sweep.axes) columns.push_back({axis.key, left});
  for (const auto* title : {"step time", "samples/s", "exposed", "USD/M samples"})
    columns.push_back({title, right});
  columns.push_back({"", left});
  Table table{std::move(columns)};
  const auto best = fastest(sweep);
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    auto cells = sweep.points[i].values;
    const auto results = result_cells(sweep.points[i], i == best);
    cells.insert(cells.end(), results.begin(), results.end());
    table.add(std::move(cells));
  }
  auto wide = style;  // a sweep over names needs room for them
  wide.width = std::max(style.width, least_width);
  table.write(out, wide);
  write_failures(out, sweep);
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
