// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>

#include <fmt/format.h>

#include "sim/report/compare.hpp"
#include "sim/report/text/fields.hpp"
#include "sim/report/text/table.hpp"
#include "sim/report/text/text.hpp"
#include "sim/report/text/training_text.hpp"
#include "sim/report/text/words.hpp"

namespace gradway::report {
namespace {

using enum Table::Align;

const std::string range_title = "9 of 10 cases";
constexpr auto nothing_meets = "no platform meets the limits of the training";

/// As many digits as asked for, and all before the point.
std::string digits_text(double value, int digits) {
  return value >= 1000 && value < 1e15 ? thousands_text(std::llround(value))
                                       : fmt::format("{:.{}g}", value, digits);
}

/// "4.7 to 5.2"; as many digits as a person compares.
std::string digits_range(const Expected& expected) {
  return fmt::format("{} to {}", digits_text(expected.low, 3), digits_text(expected.high, 3));
}

/// What a word of evidence means, behind a mark for the table; measured has none.
struct EvidenceMark {
  Evidence evidence;
  const char* mark;
  const char* words;
};
constexpr std::array evidence_marks{
    EvidenceMark{Evidence::measured, "", ""},
    EvidenceMark{Evidence::anchored, "+",
                 "anchored: a step on such a GPU was measured, collectives go by NCCL's own rates"},
    EvidenceMark{
        Evidence::kernels, "^",
        "kernels: no step of this model was measured on such a GPU, but each of its kernels was timed there"},
    EvidenceMark{Evidence::moved, "~",
                 "moved: a step, or its kernels, were measured on another GPU and moved here by the "
                 "datasheets of both"},
    EvidenceMark{Evidence::datasheet, "*", "datasheet: nothing that the step is mostly made of was measured"},
};

const EvidenceMark& mark_of(Evidence evidence) {
  return *std::ranges::find(evidence_marks, evidence, &EvidenceMark::evidence);
}

/// The marks in use, and what those without one rest on.
void write_evidence(std::ostream& out, const Compared& compared, const Style& style) {
  for (const auto& [evidence, mark, words] : evidence_marks) {
    if (std::ranges::find(compared.runs, evidence, &Alternative::evidence) == compared.runs.end()) continue;
    const auto line = evidence == Evidence::measured
                          ? "no mark: measured, on such GPUs and with such collectives"
                          : fmt::format("{} {}", mark, words);
    for (const auto& text : wrap(line, style.width)) out << style.paint(Paint::yellow, text) << '\n';
  }
}

std::string mark_of(const Leaders& leaders, std::size_t run, const char* winner) {
  return !leaders.has(run) ? "" : leaders.level() ? "level" : winner;
}

void write_times(std::ostream& out, const Compared& compared, const Style& style) {
  const bool mixed = is_mixed(compared);
  Table table{{{"platform", left},
               {"GPUs", right},
               {"step time", right},
               {range_title, right},
               {"samples/s", right},
               {"", left}}};
  const auto leaders = fastest(compared.runs);
  for (std::size_t i = 0; i < compared.runs.size(); ++i) {
    const auto& run = compared.runs[i];
    const auto* mark = mixed ? mark_of(run.evidence).mark : "";
    table.add({run.platform, thousands_text(run.gpus), time_text(run.metrics.step_time) + mark,
               range_text(run.range.low, run.range.high), digits_text(run.metrics.samples_per_s, 4),
               mark_of(leaders, i, "fastest")});
  }
  table.write(out, style);
  if (mixed) write_evidence(out, compared, style);
}

void write_costs(std::ostream& out, const Compared& compared, const Style& style) {
  Table table{{{"platform", left},
               {"GPUs", right},
               {"USD/h", right},
               {"USD/step", right},
               {"USD/M samples", right},
               {range_title, right},
               {"", left}}};
  const auto leaders = cheapest(compared.runs);
  for (std::size_t i = 0; i < compared.runs.size(); ++i) {
    const auto& run = compared.runs[i];
    if (!run.metrics.cost_per_hour) {
      table.add({run.platform, thousands_text(run.gpus), "-", "-", "-", "-", ""});
      continue;
    }
    const auto million = *usd_per_million_samples(run);
    table.add({run.platform, thousands_text(run.gpus),
               fmt::format("{:.2f}", run.metrics.cost_per_hour->value()),
               fmt::format("{:.3g}", usd_per_step(run)->value), digits_text(million.value, 4),
               digits_range(million), mark_of(leaders, i, "cheapest")});
  }
  out << '\n';
  table.write(out, style);
}

/// Are both limits met? One that is not, as predicted, has left the run out.
std::string met_cell(const Training& training) {
  const auto met = worst_of_limits(training);
  return !met ? "" : *met == Met::yes ? "yes" : "may";
}

void write_whole_runs(std::ostream& out, const Compared& compared, const Style& style) {
  if (!compared.goal || compared.runs.empty()) return;
  const auto& goal = *compared.goal;
  Table table{{{amount_in_words(goal), left},
               {"GPUs", right},
               {"time", right},
               {range_title, right},
               {"USD", right},
               {range_title, right},
               {goal.deadline || goal.budget_usd ? "met" : "", left}}};
  for (const auto& alternative : compared.runs) {
    const auto run = training_of(goal, alternative.metrics, alternative.range);
    table.add({alternative.platform, thousands_text(alternative.gpus), span_text(Seconds{run.seconds.value}),
               span_range_text(run.seconds), run.usd ? usd_text(run.usd->value) : "-",
               run.usd ? usd_range_text(*run.usd) : "-", met_cell(run)});
  }
  out << '\n';
  table.write(out, style);
}

std::string gpus_in_words(const std::string& gpus) {
  return gpus.empty() ? "" : fmt::format(", {} GPUs", gpus);
}

void write_level(Fields& fields, const Compared& compared) {
  std::vector<std::string> names;
  for (const auto& run : compared.runs)
    names.push_back(fmt::format("{}, {}", run.platform, counted_text(run.gpus, "GPU")));
  if (const auto leaders = fastest(compared.runs); leaders.level())
    fields.add("fastest", level_in_words(leaders, names));
  if (const auto leaders = cheapest(compared.runs); leaders.level())
    fields.add("cheapest", level_in_words(leaders, names));
}

void write_remarks(std::ostream& out, const Compared& compared, const Style& style) {
  std::vector<std::string> bounds;
  for (const auto& run : compared.runs) {
    bounds.push_back(fmt::format("{}, {}: {}; {}", run.platform, counted_text(run.gpus, "GPU"),
                                 run.bottleneck.resource, run.bottleneck.why));
  }
  std::vector<std::string> left_out;
  for (const auto& one : compared.left_out) {
    left_out.push_back(fmt::format("{}{}: {}", one.platform, gpus_in_words(one.gpus), one.reason));
  }
  Fields fields{out, style};
  if (!compared.runs.empty()) out << '\n';
  write_level(fields, compared);
  fields.add("bound by", bounds);
  if (left_out.empty()) return;
  out << '\n';
  fields.add("left out", left_out, Paint::yellow);
}

}  // namespace

void write_table(std::ostream& out, const Compared& compared, const Style& style) {
  out << style.paint(Paint::bold, fit(compared.scenario, style.width)) << '\n';
  const auto job = in_words(compared.model, compared.job);
  for (const auto& line : wrap(job, style.width)) out << style.paint(Paint::dim, line) << '\n';
  if (!compared.speeds.as_built()) {
    const auto what_if = fmt::format("what if, not what is: {}", gradway::in_words(compared.speeds));
    for (const auto& line : wrap(what_if, style.width)) out << style.paint(Paint::yellow, line) << '\n';
  }
  out << '\n';
  if (compared.runs.empty()) {
    for (const auto& line : wrap(nothing_meets, style.width)) out << style.paint(Paint::red, line) << '\n';
  } else {
    write_times(out, compared, style);
    write_costs(out, compared, style);
    write_whole_runs(out, compared, style);
  }
  write_remarks(out, compared, style);
}

}  // namespace gradway::report
