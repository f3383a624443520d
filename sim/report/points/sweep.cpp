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
#include "sim/report/format/scenario_json.hpp"
#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/words.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

/// Names of the metrics, from the first point with an answer.
std::vector<std::string> metric_names(const Sweep& sweep) {
  std::vector<std::string> names;
  const auto first = std::ranges::find_if(sweep.points, &std::string::empty, &SweepPoint::error);
  if (first == sweep.points.end()) return names;
  for (const auto& [name, value] : first->figures.json().items())
    if (!value.is_object()) names.push_back(name);
  return names;
}

/// The value as in JSON; empty if it is unknown.
std::string metric_cell(const Json& figures, const std::string& name) {
  const auto value = figures.find(name);
  return value != figures.end() && !value->is_null() ? serialized(*value) : "";
}

/// An entry of `runs`: the settings of a point, then its report or its error.
std::string run_text(const Sweep& sweep, const SweepPoint& point) {
  Json run = Json::object();
  for (std::size_t i = 0; i < sweep.axes.size(); ++i) run["set"][sweep.axes[i].key] = point.values[i];
  if (!point.error.empty()) {
    run["error"] = point.error;
    return serialized(run, 2);
  }
  expects(point.report.starts_with("{\n"), "a point of a document has its report");
  std::string_view report = point.report;
  if (report.ends_with('\n')) report.remove_suffix(1);
  if (run.empty()) return std::string{report};
  auto text = serialized(run, 2);
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
  std::vector<const Answer*> answers;
  for (const auto& point : sweep.points) answers.push_back(point.fits() ? &point.answer : nullptr);
  return ranking_of(answers);
}

void write_csv(std::ostream& out, const Sweep& sweep) {
  const auto names = metric_names(sweep);
  for (const auto& axis : sweep.axes) out << csv_cell(axis.key) << ',';
  for (const auto& name : names) out << name << ',';
  out << "fits,provenance,error\n";
  for (const auto& point : sweep.points) {
    for (const auto& value : point.values) out << csv_cell(value) << ',';
    for (const auto& name : names) out << metric_cell(point.figures.json(), name) << ',';
    if (!point.error.empty()) {
      out << ",," << csv_cell(first_line(point.error)) << '\n';
      continue;
    }
    const auto fits = fits_json(point.answer.verdict);
    out << (fits.is_null() ? "" : serialized(fits)) << ',' << name_of(point.answer.provenance) << ",\n";
  }
}

void write_json(std::ostream& out, const Sweep& sweep, std::string_view version) {
  Json vary = Json::array();
  for (const auto& axis : sweep.axes) vary.push_back({{"key", axis.key}, {"values", axis.values}});
  Json document{{"schema", 1}, {"gradway", version}, {"vary", std::move(vary)}, {"runs", Json::array()}};
  add_ranking(document, ranking_of(sweep));
  const auto text = serialized(document, 2);
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

/// "bucket_cap" for "strategy.bucket_cap", unless another axis would have that title.
std::string title_of(const std::vector<Axis>& axes, std::size_t axis) {
  const auto last = [](const std::string& key) { return key.substr(key.rfind('.') + 1); };
  const auto title = last(axes[axis].key);
  const auto same =
      std::ranges::count_if(axes, [&](const Axis& candidate) { return last(candidate.key) == title; });
  return same > 1 ? axes[axis].key : title;
}

/// The columns of an answer, and its cells in them.
std::vector<Table::Cell> cells_of(const Answer& answer, bool has_tokens, bool has_verdicts) {
  const auto& metrics = answer.metrics;
  std::vector<Table::Cell> cells{{"step time", time_text(metrics.step_time), right},
                                 {"samples/s", fmt::format("{:.4g}", metrics.samples_per_s), right}};
  if (has_tokens)
    cells.push_back(
        {"tokens/s/GPU",
         metrics.tokens_per_s ? thousands_text(std::llround(*metrics.tokens_per_s / answer.gpus)) : "-",
         right, 3});
  const bool takes_time = metrics.step_time > Seconds{};
  cells.push_back({"exposed",
                   takes_time ? percent_text(metrics.exposed_communication / metrics.step_time) : "-", right,
                   2});
  const auto& cost = metrics.cost_usd_per_million_samples;
  cells.push_back({"USD/M samples", cost ? fmt::format("{:.4g}", *cost) : "-", right, 1});
  if (has_verdicts) cells.push_back({"memory", std::string{name_of(answer.verdict)}});
  return cells;
}

/// @param most_title maximum width of the title of an axis, unless its values are wider
Table table_of(const Sweep& sweep, const Leaders& leaders, std::size_t most_title) {
  const bool has_tokens = std::ranges::any_of(sweep.points, [](const SweepPoint& point) {
    return point.fits() && point.answer.metrics.tokens_per_s;
  });
  const bool has_verdicts = std::ranges::any_of(sweep.points, [](const SweepPoint& point) {
    return point.fits() && point.answer.verdict != MemoryVerdict::fits;
  });
  std::vector<Table::Column> columns;
  for (std::size_t i = 0; i < sweep.axes.size(); ++i) {
    auto width = most_title;
    for (const auto& value : sweep.axes[i].values) width = std::max(width, columns_of(value));
    columns.push_back({fit(title_of(sweep.axes, i), width), left});
  }
  for (auto& cell : cells_of({}, has_tokens, has_verdicts))
    columns.push_back({std::move(cell.title), cell.align, cell.drop});
  columns.push_back({"", left});
  Table table{std::move(columns)};
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    const auto& point = sweep.points[i];
    auto cells = point.values;
    if (point.error.empty() && !point.fits()) {
      table.add_with_note(std::move(cells), point.answer.failure_reason);
      continue;
    }
    for (auto& cell : cells_of(point.answer, has_tokens, has_verdicts))
      cells.push_back(point.error.empty() ? std::move(cell.text) : "-");
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
      times.push_back(point.fits() ? point.answer.metrics.step_time.value() : nan);
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
  if (leaders.which.empty() && std::ranges::any_of(sweep.points, [](const SweepPoint& point) {
        return point.answer.verdict == MemoryVerdict::does_not_fit;
      }))
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
  constexpr std::size_t narrow_title = 14;
  auto table = table_of(sweep, leaders, Style::unlimited);
  if (table.width() > wide.width) table = table_of(sweep, leaders, narrow_title);
  table.write(out, wide);
  write_leaders(out, sweep, leaders, style);
  if (!sweep.axes.empty()) write_lines(out, sweep, wide);
  write_failures(out, sweep);
}

}  // namespace gradway::report
