// SPDX-License-Identifier: Apache-2.0
#include "sim/report/points/compare.hpp"

#include <algorithm>
#include <array>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/report/format/comparison_json.hpp"
#include "sim/report/format/json_document.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/words.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

std::optional<Training> whole_run(const PlatformComparison& compared, const Answer& alternative) {
  if (!compared.goal) return std::nullopt;
  return training_of(*compared.goal, alternative.metrics, alternative.range);
}

/// Figures that are proportional to the step time, so that they have its interval.
constexpr std::array ranged{"usd_per_step", "usd_per_million_samples", "run_hours", "run_usd"};

std::array<std::optional<Expected>, ranged.size()> ranged_figures(const Answer& run,
                                                                  const std::optional<Training>& training) {
  std::optional<Expected> hours;
  if (training) {
    const auto& [value, low, high] = training->seconds;
    hours = {value / 3600, low / 3600, high / 3600};
  }
  return {usd_per_step(run), usd_per_million_samples(run), hours, training ? training->usd : std::nullopt};
}

/// Adds the amount of training that was asked for and its limits.
void add_goal(Json& document, const PlatformComparison& compared) {
  if (!compared.goal) return;
  const auto& goal = *compared.goal;
  if (goal.tokens) document["tokens"] = *goal.tokens;
  if (goal.samples) document["samples"] = *goal.samples;
  if (goal.deadline) document["deadline_s"] = goal.deadline->value();
  if (goal.budget_usd) document["budget_usd"] = *goal.budget_usd;
}

Ranking ranking_of(const PlatformComparison& compared) {
  return {fastest(compared.runs), cheapest(compared.runs), shortest_step(compared.runs)};
}

/// The criteria by which a run is tied with the best.
Json tied_in(const Ranking& ranking, std::size_t run) {
  Json tied = Json::array();
  if (ranking.fastest.tied() && ranking.fastest.has(run)) tied.push_back("speed");
  if (ranking.cheapest.tied() && ranking.cheapest.has(run)) tied.push_back("cost");
  return tied;
}

/// The report of a run with the keys that the comparison adds.
Json run_json(const PlatformComparison& compared, std::size_t index, const Ranking& ranks, bool pareto) {
  const auto& alternative = compared.runs[index];
  auto json = compared.reports[index].json();
  json["nodes"] = alternative.nodes;
  const auto training = whole_run(compared, alternative);
  const auto figures = ranged_figures(alternative, training);
  Json costs = Json::object();
  for (std::size_t i = 0; i < ranged.size(); ++i) {
    const std::string name{ranged[i]};
    const bool is_of_run = name.starts_with("run_");
    if (name == "usd_per_step" || (is_of_run && training))
      costs[name] = figures[i] ? Json(figures[i]->value) : Json(nullptr);
    if (figures[i]) json["interval"][name] = {figures[i]->low, figures[i]->high};
  }
  costs["cheapest"] = ranks.cheapest.winner() == index;
  costs["fastest"] = ranks.fastest.winner() == index;
  costs["tied"] = tied_in(ranks, index);
  costs["pareto"] = pareto;
  json["costs"] = std::move(costs);
  if (training) json["training"] = training_json(*training);
  return json;
}

std::string cell(double value) {
  return serialized(Json(value));
}

/// value, low, high; empty cells if there is none
std::string cells(const std::optional<Expected>& expected) {
  if (!expected) return ",,,";
  return fmt::format("{},{},{},", cell(expected->value), cell(expected->low), cell(expected->high));
}

/// The mark of a run that is best, alone or tied.
std::string_view mark(const Leaders& leaders, std::size_t run, std::string_view winner) {
  return !leaders.has(run) ? "" : leaders.tied() ? "tied" : winner;
}

}  // namespace

bool is_mixed(const PlatformComparison& compared) {
  return std::ranges::any_of(compared.runs, [&](const Answer& alternative) {
    return alternative.provenance != compared.runs.front().provenance;
  });
}

void write_csv(std::ostream& out, const PlatformComparison& compared) {
  out << "platform,gpus,step_time_s,step_time_low_s,step_time_high_s,samples_per_s,usd_per_hour,";
  for (const auto* name : ranged) out << fmt::format("{0},{0}_low,{0}_high,", name);
  out << "bottleneck,provenance,fastest,cheapest,fits,left_out\n";
  const auto ranks = ranking_of(compared);
  for (std::size_t i = 0; i < compared.runs.size(); ++i) {
    const auto& run = compared.runs[i];
    const auto& metrics = run.metrics;
    out << fmt::format("{},{},{},{},{},{},", csv_cell(run.platform), run.gpus,
                       cell(metrics.step_time.value()), cell(run.range.low.value()),
                       cell(run.range.high.value()), cell(metrics.samples_per_s));
    if (metrics.cost_per_hour) out << cell(metrics.cost_per_hour->value());
    out << ',';
    for (const auto& figure : ranged_figures(run, whole_run(compared, run))) out << cells(figure);
    out << csv_cell(describe(run.bottleneck).resource)
        << fmt::format(",{},{},{},true,\n", name_of(run.provenance), mark(ranks.fastest, i, "fastest"),
                       mark(ranks.cheapest, i, "cheapest"));
  }
  for (const auto& omitted : compared.left_out) {
    out << csv_cell(omitted.platform) << ',' << csv_cell(omitted.gpus)
        << std::string(5 + 3 * ranged.size() + 5, ',')
        << (omitted.does_not_fit ? "false,"
            : omitted.training   ? "true,"
                                 : ",")
        << csv_cell(omitted.reason) << '\n';
  }
}

JsonDocument json_document(const PlatformComparison& compared, std::string_view version) {
  Json runs = Json::array();
  const auto ranking = ranking_of(compared);
  const auto front = pareto_front(compared.runs);
  for (std::size_t i = 0; i < compared.runs.size(); ++i)
    runs.push_back(run_json(compared, i, ranking, front[i]));
  Json left_out = Json::array();
  for (const auto& omitted : compared.left_out) {
    Json json{{"platform", omitted.platform}, {"gpus", omitted.gpus}, {"reason", omitted.reason}};
    if (omitted.does_not_fit) json["fits"] = false;
    if (omitted.training) json["training"] = training_json(*omitted.training);
    left_out.push_back(std::move(json));
  }
  Json document{{"schema", 1}, {"gradway", version}, {"scenario", compared.scenario}};
  add_goal(document, compared);
  document["runs"] = std::move(runs);
  add_ranking(document, ranking);
  document["mixed_evidence"] = is_mixed(compared);
  document["left_out"] = std::move(left_out);
  return document;
}

}  // namespace gradway::report
