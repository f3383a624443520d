// SPDX-License-Identifier: Apache-2.0
#include "sim/report/campaign/campaign_points.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/base/text.hpp"
#include "sim/report/campaign/campaign.hpp"
#include "sim/report/format/comparison_json.hpp"
#include "sim/report/format/fields.hpp"
#include "sim/report/format/figures.hpp"
#include "sim/report/format/json_document.hpp"
#include "sim/report/format/json_values.hpp"
#include "sim/report/format/scenario_json.hpp"
#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/training_text.hpp"
#include "sim/report/format/words.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t max_rows = 20;  // rows of a ranked table

bool has_limits(const CampaignPoints& points) {
  return points.questions.deadline || points.questions.budget_usd;
}

bool has_layouts(const CampaignPoints& points) {
  return std::ranges::any_of(points.points, [](const CampaignPoint& point) { return point.job.has_value(); });
}

/// The best points, for the marks of a table.
struct BestPoints {
  std::optional<std::size_t> best;
  Leaders fastest;
  Leaders cheapest;
};

/// The columns of a point, and its cells in them.
std::vector<Table::Cell> cells_of(const CampaignPoints& points, std::size_t index,
                                  const BestPoints& best_points) {
  using enum Table::Align;
  const auto& point = points.points[index];
  const auto& estimate = *point.estimate;
  const auto& metrics = point.step.metrics;
  std::vector<Table::Cell> cells;
  // The share of runs that meet a limit, and the excess over it.
  const auto add_limit = [&](const std::string& title, const std::optional<double>& over,
                             const std::optional<double>& kept, const std::string& excess) {
    cells.push_back({title, over ? percent_text(*kept) : "no price"});
    cells.push_back({"", over && *over > 0 ? "+" + excess : "", right, 4});
  };
  for (std::size_t i = 0; i < points.axes.size(); ++i) {
    const auto& key = points.axes[i].key;
    cells.push_back({key == "job.gpus" ? "GPUs" : key, point.values[i]});
  }
  if (has_layouts(points)) {
    cells.push_back({"layout", point.job ? describe_briefly(*point.job) : "", left, 1});
    cells.push_back({"MFU", metrics.mfu ? percent_text(*metrics.mfu) : "", right, 5});
    cells.push_back({"step time", time_text(metrics.step_time), right, 6});
    cells.push_back({"90 % interval", range_text(point.step.range.low, point.step.range.high), right, 7});
  }
  cells.push_back({"takes", span_text(Seconds{estimate.seconds.value}), right});
  if (!points.is_ranked) cells.push_back({"90 % interval", span_range_text(estimate.seconds), right});
  cells.push_back({"USD", estimate.usd ? usd_text(estimate.usd->value) : "", right});
  if (!points.is_ranked) cells.push_back({"goodput", percent_text(estimate.goodput.value), right});
  if (const auto& deadline = points.questions.deadline)
    add_limit(fmt::format("in {}", span_text(*deadline)), point.late_s, point.in_time,
              span_text(Seconds{std::abs(point.late_s.value_or(0))}));
  if (const auto& budget = points.questions.budget_usd)
    add_limit(fmt::format("for {} USD", usd_text(*budget)), point.over_usd, point.in_budget,
              usd_text(std::abs(point.over_usd.value_or(0))));
  cells.push_back({"speed", mark_of(best_points.fastest, index, "fastest"), left, 3});
  cells.push_back({"cost", mark_of(best_points.cheapest, index, "cheapest"), left, 2});
  if (has_limits(points) && !points.is_ranked) cells.push_back({"", best_points.best == index ? "best" : ""});
  return cells;
}

/// What failed, by reason: "does not fit: dgx-h100 8, dgx-h100 16".
std::vector<std::string> failures_by_reason(const CampaignPoints& points) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_reason;
  for (const auto& point : points.points) {
    if (point.estimate) continue;
    const auto reason = first_sentence(one_line(point.error));
    auto place = std::ranges::find(by_reason, reason, [](const auto& entry) { return entry.first; });
    if (place == by_reason.end()) place = by_reason.insert(by_reason.end(), {reason, {}});
    place->second.push_back(fmt::format("{}", fmt::join(point.values, " ")));
  }
  std::vector<std::string> lines;
  for (const auto& [reason, names] : by_reason)
    lines.push_back(fmt::format("{}: {}", reason, fmt::join(names, ", ")));
  return lines;
}

void write_notes(std::ostream& out, const CampaignPoints& points, const Style& style) {
  if (has_limits(points))
    write_wrapped(
        out,
        fmt::format("limits: share of the runs that meet each limit, and the excess that {} of the runs "
                    "stay within",
                    points.questions.sure == 0.5 ? "half" : percent_text(points.questions.sure)),
        style, Paint::dim);
  if (has_layouts(points)) {
    std::vector<const Job*> jobs;
    for (const auto& point : points.points)
      if (point.job) jobs.push_back(&*point.job);
    write_wrapped(out, layout_letters(jobs), style, Paint::dim);
  }
  if (points.is_ranked) {
    Fields fields{out, style};
    fields.add("note", points.notes);
    fields.add("left out", failures_by_reason(points), Paint::yellow);
  }
}

/// Writes the best point and the command that simulates it.
void write_best(std::ostream& out, const CampaignPoints& points, std::string_view command,
                const Style& style) {
  const auto best = points.best();
  if (!best) {
    out << '\n'
        << style.paint(Paint::bold, "no point meets its limits; the first exceeds them least") << '\n';
    return;
  }
  const auto& point = points.points[*best];
  out << "\n  command to try\n        " << command;
  const auto add = [&](const std::string& key, const std::string& value) {
    out << " --set " << shell_word(key + "=" + value);
  };
  for (std::size_t i = 0; i < point.values.size(); ++i) add(points.axes[i].key, point.values[i]);
  for (const auto& [key, value] : point.set) add(key, value);
  out << '\n';
}

}  // namespace

void add_layout(CampaignPoint& point, const Scenario& scenario) {
  const auto& job = scenario.job;
  const auto json = scenario_json(scenario);
  point.job = job;
  if (json.contains("parallel")) point.set.emplace_back("parallel", serialized(json["parallel"]));
  point.set.emplace_back("strategy", serialized(json["strategy"]));
  for (const auto* key : {"batch_per_gpu", "accumulate"})
    point.set.emplace_back(fmt::format("job.{}", key), serialized(json["job"][key]));
  if (!scenario.model.captured)  // a capture contains what is recomputed
    point.set.emplace_back("job.recompute", std::string{name_of(job.recompute)});
}

std::vector<Override> layout_keys(const Scenario& chosen) {
  CampaignPoint point;
  add_layout(point, chosen);
  std::vector<Override> keys;
  for (const auto& [key, value] : point.set) keys.push_back({key, value});
  return keys;
}

void write_table(std::ostream& out, const CampaignPoints& points, const Style& style,
                 std::string_view command) {
  Table table;
  const BestPoints best_points{points.best(), points.fastest(), points.cheapest()};
  std::size_t rows = 0;
  std::size_t unlisted = 0;
  for (std::size_t i = 0; i < points.points.size(); ++i) {
    const auto& point = points.points[i];
    if (!point.estimate) {
      if (!points.is_ranked) table.add_with_note(point.values, first_sentence(one_line(point.error)));
    } else if (points.is_ranked && rows == max_rows) {
      ++unlisted;
    } else {
      table.add_cells(cells_of(points, i, best_points));
      ++rows;
    }
  }
  write_wrapped(out, points.scenario, style, Paint::bold);
  table.write(out, style);
  if (unlisted > 0) out << fmt::format("and {} more; --json lists all\n", unlisted);
  write_notes(out, points, style);
  if (!command.empty()) write_best(out, points, command, style);
}

JsonDocument json_document(const CampaignPoints& points, const std::vector<JsonDocument>& reports,
                           std::string_view version) {
  const auto& questions = points.questions;
  Json vary = Json::array();
  for (const auto& axis : points.axes) vary.push_back({{"key", axis.key}, {"values", axis.values}});
  Json runs = Json::array();
  for (std::size_t p = 0; p < points.points.size(); ++p) {
    const auto& point = points.points[p];
    Json run{{"set", Json::object()}};
    for (std::size_t i = 0; i < point.values.size(); ++i) run["set"][points.axes[i].key] = point.values[i];
    run["set"].update(settings_json(point.set));
    if (point.job) run["layout"] = describe_briefly(*point.job);
    if (!point.estimate) {
      run["error"] = point.error;
    } else if (reports.empty()) {
      run.update(figures_json(point.step, {"step_time_s", "interval", "mfu"}));
      run["estimate"] = campaign_estimate_json(*point.estimate);
      run["limits"] = {{"deadline_kept", or_null(point.in_time)},
                       {"late_s", or_null(point.late_s)},
                       {"budget_kept", or_null(point.in_budget)},
                       {"over_usd", or_null(point.over_usd)}};
    } else {
      run.update(reports[p].json());
    }
    runs.push_back(std::move(run));
  }
  Json json{{"schema", 1},
            {"gradway", version},
            {"vary", std::move(vary)},
            {"limits",
             {{"deadline_s", or_null(questions.deadline)},
              {"budget_usd", or_null(questions.budget_usd)},
              {"sure", questions.sure}}},
            {"runs", std::move(runs)}};
  add_ranking(json, {{"fastest", points.fastest()}, {"cheapest", points.cheapest()}});
  json["best"] = or_null(points.best());
  if (!points.notes.empty()) json["notes"] = points.notes;
  return json;
}

}  // namespace gradway::report
