// SPDX-License-Identifier: Apache-2.0
#include "sim/report/points/sweep.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <ostream>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/base/contract.hpp"
#include "sim/report/format/comparison_json.hpp"
#include "sim/report/format/json_document.hpp"
#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/words.hpp"

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

namespace {

using enum Table::Align;

constexpr auto nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t widest_line = 200;  // of a sparkline with its labels
constexpr std::size_t fewest_points = 3;  // two points do not show a shape

bool has_result(const SweepPoint& point) {
  return point.error.empty() && point.result.fits();
}

/// "bucket_cap" for "strategy.bucket_cap", unless another axis would have that title.
std::string title_of(const std::vector<Axis>& axes, std::size_t axis) {
  const auto last = [](const std::string& key) { return key.substr(key.rfind('.') + 1); };
  const auto title = last(axes[axis].key);
  const auto same =
      std::ranges::count_if(axes, [&](const Axis& candidate) { return last(candidate.key) == title; });
  return same > 1 ? axes[axis].key : title;
}

/// A column of result_columns, after the varied values.
struct ResultColumn {
  const char* title;
  std::string (*cell)(const PointResult&);
  int drop;  ///< columns with larger numbers are dropped first if space is short; 0: never
};

constexpr const char* step_metric = "step_time_s";
constexpr const char* tokens_metric = "tokens_per_s_per_gpu";
constexpr const char* tokens_title = "tokens/s/GPU";

const std::vector<ResultColumn> result_columns{
    {"step time", [](const PointResult& result) { return time_text(Seconds{result.figure(step_metric)}); },
     0},
    {"samples/s",
     [](const PointResult& result) { return fmt::format("{:.4g}", result.figure("samples_per_s")); }, 0},
    {tokens_title,
     [](const PointResult& result) {
       const auto rate = result.known(tokens_metric);
       return rate ? thousands_text(std::llround(*rate)) : "-";
     },
     3},
    {"exposed",
     [](const PointResult& result) {
       const auto step = result.figure(step_metric);
       return step > 0 ? percent_text(result.figure("exposed_communication_s") / step) : "-";
     },
     2},
    {"USD/M samples",
     [](const PointResult& result) {
       const auto cost = result.known("cost_usd_per_million_samples");
       return cost ? fmt::format("{:.4g}", *cost) : "-";
     },
     1}};

/// Limits on what the table shows.
struct TableLimits {
  std::size_t title = Style::unlimited;  ///< maximum width of a title, unless its values are wider
  int max_drop = 3;                      ///< show result_columns whose `drop` is at most this
};

/// Limits to try, widest first.
const std::vector<TableLimits> limits_to_try{{}, {14, 3}, {14, 2}, {14, 1}, {14, 0}};

Table table_of(const Sweep& sweep, const Leaders& leaders, const TableLimits& limits) {
  const bool has_tokens = std::ranges::any_of(sweep.points, [](const SweepPoint& point) {
    return has_result(point) && point.result.known(tokens_metric);
  });
  const auto is_shown = [&](const ResultColumn& result) {
    return result.drop <= limits.max_drop && (has_tokens || result.title != tokens_title);
  };
  std::vector<Table::Column> columns;
  for (std::size_t i = 0; i < sweep.axes.size(); ++i) {
    auto width = limits.title;
    for (const auto& value : sweep.axes[i].values) width = std::max(width, columns_of(value));
    columns.push_back({fit(title_of(sweep.axes, i), width), left});
  }
  for (const auto& result : result_columns) {
    if (is_shown(result)) columns.push_back({result.title, right});
  }
  columns.push_back({"", left});
  Table table{std::move(columns)};
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    const auto& point = sweep.points[i];
    auto cells = point.values;
    if (point.error.empty() && !point.result.fits()) {
      table.add_with_note(std::move(cells), point.result.does_not_fit);
      continue;
    }
    for (const auto& column : result_columns)
      if (is_shown(column)) cells.push_back(point.error.empty() ? column.cell(point.result) : "-");
    cells.push_back(point.error.empty() ? mark_of(leaders, i, "fastest") : "failed");
    table.add(std::move(cells));
  }
  return table;
}

bool begins_with_number(const std::string& value) {
  double number = 0;
  return std::from_chars(value.data(), value.data() + value.size(), number).ec == std::errc{};
}

/// The axis that sparklines run along.
std::size_t axis_of_lines(const std::vector<Axis>& axes) {
  for (auto i = axes.size(); i-- > 0;) {
    if (axes[i].values.size() >= fewest_points && std::ranges::all_of(axes[i].values, begins_with_number))
      return i;
  }
  return axes.size() - 1;
}

/// At most `most` of the values, evenly spaced, including both ends.
std::vector<double> thinned(const std::vector<double>& values, std::size_t most) {
  if (values.size() <= most) return values;
  std::vector<double> few;
  for (std::size_t i = 0; i < most; ++i) few.push_back(values[i * (values.size() - 1) / (most - 1)]);
  return few;
}

/// A sparkline for each combination of the other axes, with its own scale.
void write_lines(std::ostream& out, const Sweep& sweep, const Style& style) {
  const auto along = axis_of_lines(sweep.axes);
  const auto& values = sweep.axes[along].values;
  if (values.size() < fewest_points) return;
  std::size_t stride = 1;
  for (auto i = along + 1; i < sweep.axes.size(); ++i) stride *= sweep.axes[i].values.size();
  const auto title =
      fmt::format("step time over {}, {} to {}", sweep.axes[along].key, values.front(), values.back());
  out << '\n' << style.paint(Paint::dim, shorten(title, style.table_width)) << '\n';
  std::vector<Table::Column> columns;
  for (std::size_t i = 0; i < sweep.axes.size(); ++i) {
    if (i != along) columns.push_back({title_of(sweep.axes, i), left});
  }
  columns.push_back({"", left});
  columns.push_back({"", right});
  Table table{std::move(columns)};
  for (std::size_t first = 0; first < sweep.points.size(); ++first) {
    if (first / stride % values.size() != 0) continue;
    std::vector<double> times;
    for (std::size_t k = 0; k < values.size(); ++k) {
      const auto& point = sweep.points[first + k * stride];
      times.push_back(has_result(point) ? point.result.figure(step_metric) : nan);
    }
    auto cells = sweep.points[first].values;
    cells.erase(cells.begin() + static_cast<std::ptrdiff_t>(along));
    cells.push_back(sparkline(thinned(times, std::min(style.table_width, widest_line) / 2)));
    std::erase_if(times, [](double time) { return !(time < std::numeric_limits<double>::infinity()); });
    cells.push_back(
        times.empty() ? "-" : range_text(Seconds{std::ranges::min(times)}, Seconds{std::ranges::max(times)}));
    table.add(std::move(cells));
  }
  table.write(out, style);
}

/// Writes the errors of failed points, each once.
void write_failures(std::ostream& out, const Sweep& sweep) {
  std::set<std::string> written;
  for (const auto& point : sweep.points) {
    if (!point.error.empty() && written.insert(point.error).second) out << '\n' << point.error;
  }
}

/// Writes which points are tied, because the table only marks them.
void write_leaders(std::ostream& out, const Sweep& sweep, const Leaders& leaders, const Style& style) {
  std::string text;
  if (leaders.which.empty() &&
      !std::ranges::all_of(sweep.points, [](const SweepPoint& point) { return point.result.fits(); }))
    text = "no point fits";
  if (leaders.tied()) {
    std::vector<std::string> names;
    for (const auto& point : sweep.points) names.push_back(fmt::format("{}", fmt::join(point.values, ", ")));
    text = fmt::format("{} is {}", names[leaders.which.front()], tie_in_words(leaders, names, "faster"));
  }
  if (text.empty()) return;
  out << '\n';
  write_wrapped(out, text, style);
}

}  // namespace

void write_table(std::ostream& out, const Sweep& sweep, const Style& style) {
  const auto leaders = ranking_of(sweep).fastest;
  auto wide = style;
  wide.width = style.table_width;
  const auto fits = [&](const TableLimits& limits) {
    return table_of(sweep, leaders, limits).width() <= wide.width;
  };
  const auto limits = std::ranges::find_if(limits_to_try, fits);
  table_of(sweep, leaders, limits != limits_to_try.end() ? *limits : limits_to_try.back()).write(out, wide);
  write_leaders(out, sweep, leaders, style);
  if (!sweep.axes.empty()) write_lines(out, sweep, wide);
  write_failures(out, sweep);
}

}  // namespace gradway::report
