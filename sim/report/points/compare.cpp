// SPDX-License-Identifier: Apache-2.0
#include "sim/report/points/compare.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <ostream>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/report/format/comparison_json.hpp"
#include "sim/report/format/fields.hpp"
#include "sim/report/format/json_document.hpp"
#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/training_text.hpp"
#include "sim/report/format/words.hpp"
#include "sim/trust/lossy_warning.hpp"

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
  const auto ranks = ranking_of(compared.runs);
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
        << fmt::format(",{},{},{},{},\n", name_of(run.provenance), mark(ranks.fastest, i, "fastest"),
                       mark(ranks.cheapest, i, "cheapest"),
                       run.verdict == MemoryVerdict::may_not_fit ? "" : "true");
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
  const auto ranking = ranking_of(compared.runs);
  const auto front = pareto_front(compared.runs);
  for (std::size_t i = 0; i < compared.runs.size(); ++i)
    runs.push_back(run_json(compared, i, ranking, front[i]));
  Json left_out = Json::array();
  for (const auto& omitted : compared.left_out) {
    Json json{{"platform", omitted.platform}, {"gpus", omitted.gpus}, {"reason", omitted.reason}};
    if (omitted.does_not_fit)
      json.update({{"fits", false}, {"memory_verdict", name_of(MemoryVerdict::does_not_fit)}});
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

namespace {

using enum Table::Align;

const std::string range_title = "90 % interval";
constexpr auto nothing_meets = "no platform meets the limits of the training";

/// "4.7 to 5.2", with three digits.
std::string digits_range(const Expected& expected) {
  return fmt::format("{} to {}", digits_text(expected.low, 3), digits_text(expected.high, 3));
}

/// Mark and meaning of a class of provenance. Measured runs have no mark.
struct ProvenanceMark {
  ProvenanceClass evidence;
  const char* mark;
  const char* words;
};
constexpr std::array provenance_marks{
    ProvenanceMark{ProvenanceClass::measured, "", ""},
    ProvenanceMark{ProvenanceClass::anchored, "+",
                   "anchored: a step was measured on this GPU model; collectives follow NCCL's own rates"},
    ProvenanceMark{
        ProvenanceClass::kernels, "^",
        "kernels: the kernels were timed on this GPU model, but no step of the model was measured"},
    ProvenanceMark{ProvenanceClass::moved, "~",
                   "moved: a step or its kernels were measured on another GPU model and extrapolated by both "
                   "datasheets"},
    ProvenanceMark{ProvenanceClass::datasheet, "*",
                   "datasheet: the largest parts of the step were not measured"},
};

const ProvenanceMark& provenance_mark(ProvenanceClass evidence) {
  return *std::ranges::find(provenance_marks, evidence, &ProvenanceMark::evidence);
}

/// Writes the legend of the marks in use.
void write_provenance_legend(std::ostream& out, const PlatformComparison& compared, const Style& style) {
  for (const auto& [evidence, mark, words] : provenance_marks) {
    if (std::ranges::find(compared.runs, evidence, &Answer::provenance) == compared.runs.end()) continue;
    const auto line = evidence == ProvenanceClass::measured
                          ? "no mark: measured on this GPU model, with such collectives"
                          : fmt::format("{} {}", mark, words);
    for (const auto& text : wrap(line, style.width)) out << style.paint(Paint::yellow, text) << '\n';
  }
}

/// "yes" or "may": whether all limits are met. Runs predicted to miss a limit are left out.
std::string met_cell(const Training& training) {
  const auto met = worst_limit_status(training);
  return !met ? "" : *met == LimitStatus::met ? "yes" : "may";
}

/// "aws-g6e, 1 GPU on 1 node with 7 more, paid and idle"
std::string run_in_words(const Answer& run) {
  const auto idle = run.metrics.idle_gpus;
  return fmt::format("{}, {} on {}{}", run.platform, counted_text(run.gpus, "GPU"),
                     counted_text(run.nodes, "node"),
                     idle > 0 ? fmt::format(" with {} more, paid and idle", thousands_text(idle)) : "");
}

/// The columns of a run, and its cells in them.
std::vector<Table::Cell> cells_of(const PlatformComparison& compared, std::size_t index, const Leaders& speed,
                                  const Leaders& cost) {
  const auto& run = compared.runs[index];
  const auto& metrics = run.metrics;
  const auto* mark = is_mixed(compared) ? provenance_mark(run.provenance).mark : "";
  const bool has_tokens = compared.runs.front().metrics.tokens_per_s.has_value();
  const auto throughput = metrics.tokens_per_s ? *metrics.tokens_per_s / run.gpus : metrics.samples_per_s;
  const auto& price = metrics.cost_per_hour;
  std::vector<Table::Cell> cells{
      {"platform", run.platform},
      {"GPUs", thousands_text(run.gpus), right},
      {"nodes", thousands_text(run.nodes), right, 2},
      {"step time", time_text(metrics.step_time) + mark, right},
      {range_title, range_text(run.range.low, run.range.high), right, compared.goal ? 6 : 4},
      {has_tokens ? "tokens/s/GPU" : "samples/s", digits_text(throughput, 4), right, 5},
      {"USD/h", price ? price_text(price->value()) : "-", right, 3}};
  if (compared.goal) {
    const auto training = training_of(*compared.goal, metrics, run.range);
    const auto& usd = training.usd;
    cells.push_back({amount_in_words(*compared.goal), span_text(Seconds{training.seconds.value}), right});
    cells.push_back({range_title, span_range_text(training.seconds), right, 4});
    cells.push_back({"USD", usd ? usd_text(usd->value) : "-", right});
    cells.push_back({range_title, usd ? usd_range_text(*usd) : "-", right, 1});
    if (compared.goal->deadline || compared.goal->budget_usd) cells.push_back({"met", met_cell(training)});
  } else {
    const auto million = usd_per_million_samples(run);
    cells.push_back({"USD/M samples", million ? digits_text(million->value, 4) : "-", right});
    cells.push_back({range_title, million ? digits_range(*million) : "-", right, 1});
  }
  cells.push_back({"speed", mark_of(speed, index, "fastest")});
  cells.push_back({"cost", mark_of(cost, index, "cheapest")});
  const auto fits_surely = [](const Answer& answer) { return answer.verdict == MemoryVerdict::fits; };
  if (!std::ranges::all_of(compared.runs, fits_surely))
    cells.push_back({"memory", std::string{name_of(run.verdict)}});
  cells.push_back({"bound by", describe(run.bottleneck).resource, left, 7});
  return cells;
}

/// Writes one row per run, with as many columns as fit.
void write_runs(std::ostream& out, const PlatformComparison& compared, const Leaders& speed,
                const Leaders& cost, const Style& style) {
  Table table;
  for (std::size_t i = 0; i < compared.runs.size(); ++i) table.add_cells(cells_of(compared, i, speed, cost));
  table.write(out, style);
  if (is_mixed(compared)) write_provenance_legend(out, compared, style);
}

/// Speed of the fastest run.
std::string speed_in_words(const PlatformComparison& compared, const Answer& run) {
  auto step = fmt::format("{} per step ({})", time_text(run.metrics.step_time),
                          range_text(run.range.low, run.range.high));
  if (!compared.goal) return step;
  return fmt::format("{}, {}",
                     span_with_range_text(training_of(*compared.goal, run.metrics, run.range).seconds), step);
}

std::string cost_in_words(const PlatformComparison& compared, const Answer& run) {
  if (compared.goal) return usd_with_range_text(*training_of(*compared.goal, run.metrics, run.range).usd);
  const auto million = *usd_per_million_samples(run);
  return fmt::format("{} USD per million samples ({})", digits_text(million.value, 4), digits_range(million));
}

/// Writes the answer: the best run, its figure, and the certainty of the ranking.
void write_answer(Fields& fields, const PlatformComparison& compared, const Leaders& leaders, bool is_speed) {
  if (leaders.which.empty()) return;
  const auto* better = is_speed ? "faster" : "cheaper";
  const auto& first = compared.runs[leaders.which.front()];
  const auto figure = is_speed ? speed_in_words(compared, first) : cost_in_words(compared, first);
  std::vector<std::string> names;
  for (const auto& run : compared.runs) names.push_back(run_in_words(run));
  const auto sure = compared.runs.size() == 1 ? std::string{}
                    : leaders.tied()
                        ? "; " + tie_in_words(leaders, names, better)
                        : fmt::format("; {} than each of the others with a probability of {} or more", better,
                                      probability_text(leaders.confidence()));
  fields.add(is_speed ? "fastest" : "cheapest", fmt::format("{}: {}{}", run_in_words(first), figure, sure),
             Paint::bold);
}

/// Writes region and date of the prices, and the platforms without a price.
void write_prices(Fields& fields, const PlatformComparison& compared) {
  std::map<std::string, std::vector<std::string>> by_origin;
  std::vector<std::string> missing;
  const auto add = [](std::vector<std::string>& names, const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const auto& run : compared.runs) {
    if (!run.metrics.cost_per_hour) {
      add(missing, run.platform);
    } else if (run.price) {
      add(by_origin[basis_of_cost(*run.price)], run.platform);
    }
  }
  std::vector<std::string> items;
  for (const auto& [origin, platforms] : by_origin)
    items.push_back(by_origin.size() == 1 ? origin
                                          : fmt::format("{}: {}", origin, fmt::join(platforms, ", ")));
  fields.add("prices", items);
  std::vector<std::string> idle;
  for (const auto& run : compared.runs)
    if (run.metrics.idle_gpus > 0)
      add(idle, fmt::format("{} ({} of {})", run.platform, run.metrics.idle_gpus,
                            run.metrics.idle_gpus + run.gpus));
  if (!idle.empty())
    fields.add("idle GPUs", fmt::format("are paid for on {}", fmt::join(idle, ", ")), Paint::yellow);
  if (!missing.empty())
    fields.add(
        "no price",
        fmt::format("{}: not ranked by cost; give a file of prices with --prices", fmt::join(missing, ", ")),
        Paint::yellow);
}

std::string gpus_in_words(const std::string& gpus) {
  return gpus.empty() ? "" : fmt::format(", {} GPUs", gpus);
}

/// Says how many runs wait for the CPU's launches, where a larger batch costs little; "": none.
std::string launches_in_words(const PlatformComparison& compared) {
  constexpr double much = 0.2;  // of the step
  const auto waiting = std::ranges::count_if(compared.runs, [](const Answer& run) {
    return run.metrics.launch_bound > run.metrics.step_time * much;
  });
  const auto batch = compared.job.batch_per_gpu;
  return waiting == 0 ? ""
                      : fmt::format(
                            "bind a fifth of the step or more on {} of {}: batch_per_gpu {} is small; "
                            "compare '--set job.batch_per_gpu={}'{} too",
                            waiting, compared.runs.size(), batch, 2 * batch,
                            compared.job.compiled ? "" : " and '--set job.compile=true'");
}

/// Writes the bottlenecks of the fastest and the cheapest run, and what was left out.
void write_remarks(std::ostream& out, const PlatformComparison& compared, const std::set<std::size_t>& first,
                   const Style& style) {
  std::vector<std::string> bounds;
  for (const auto i : first) {
    const auto& run = compared.runs[i];
    const auto bottleneck = describe(run.bottleneck);
    bounds.push_back(fmt::format("{}: {}; {}", run_in_words(run), bottleneck.resource, bottleneck.why));
  }
  std::vector<std::string> left_out;
  for (const auto& omitted : compared.left_out) {
    left_out.push_back(
        fmt::format("{}{}: {}", omitted.platform, gpus_in_words(omitted.gpus), omitted.reason));
  }
  Fields fields{out, style};
  if (!compared.runs.empty()) out << '\n';
  fields.add("bound by", bounds);
  if (const auto launches = launches_in_words(compared); !launches.empty())
    fields.add("launches", launches, Paint::yellow);
  if (const auto unknown = unknown_lossy_steps(compared.job.strategy); unknown && compared.goal)
    fields.add("target", unknown->sentence);
  write_prices(fields, compared);
  if (left_out.empty()) return;
  out << '\n';
  fields.add("left out", left_out, Paint::yellow);
}

}  // namespace

void write_table(std::ostream& out, const PlatformComparison& compared, const Style& style) {
  out << style.paint(Paint::bold, fit(compared.scenario, style.width)) << '\n';
  write_wrapped(out, describe(compared.model, compared.job), style, Paint::dim);
  if (!compared.speeds.as_built())
    write_wrapped(out, fmt::format("what-if, not the real hardware: {}", gradway::in_words(compared.speeds)),
                  style, Paint::yellow);
  out << '\n';
  const auto [speed, cost, shortest_step] = ranking_of(compared.runs);
  std::set<std::size_t> first;
  for (const auto* leaders : {&speed, &cost})
    if (!leaders->which.empty()) first.insert(leaders->which.front());
  if (compared.runs.empty()) {
    write_wrapped(out, nothing_meets, style, Paint::red);
  } else {
    Fields fields{out, style};
    write_answer(fields, compared, cost, false);
    write_answer(fields, compared, speed, true);
    out << '\n';
    write_runs(out, compared, speed, cost, style);
  }
  write_remarks(out, compared, first, style);
}

}  // namespace gradway::report
