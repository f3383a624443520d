// SPDX-License-Identifier: Apache-2.0
#include "sim/report/campaign/over_time_text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>

#include <fmt/format.h>

#include "sim/report/format/fields.hpp"
#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/training_text.hpp"

namespace gradway::report {
namespace {

constexpr int columns_of_course = 48;
constexpr std::size_t most_rows = 12;

double unit_of(const Campaign& campaign) {
  return campaign.run.measured.metrics.tokens_per_sample.value_or(1);
}

std::string noun_of(const Campaign& campaign) {
  return campaign.run.measured.metrics.tokens_per_sample ? "tokens" : "samples";
}

/// "252 M tokens" @param samples amount
std::string amount_text(const Campaign& campaign, double samples) {
  const auto amount = samples * unit_of(campaign);
  TrainingGoal goal;
  (noun_of(campaign) == "tokens" ? goal.tokens : goal.samples) = amount;
  return amount_in_words(goal);
}

std::string phase_in_words(const Campaign& campaign, std::size_t phase) {
  const auto& until = campaign.answers.plan.over_time->phases[phase].until;
  return until ? "until " + amount_text(campaign, *until) : "to the end";
}

/// The hours of the day and the storage tier of a condition; empty if there is only one.
std::string condition_in_words(const Campaign& campaign, std::size_t condition) {
  const auto& over_time = *campaign.answers.plan.over_time;
  const auto& settings = *campaign.run.scenario.campaign;
  std::string words;
  if (!over_time.hours.empty()) {
    std::size_t hour = condition / over_time.tiers;
    words = "other hours";
    for (const auto& phase : settings.phases)
      if (phase.from && hour-- == 0) words = fmt::format("{:g} h to {:g} h", *phase.from, *phase.to);
  }
  if (over_time.tiers == 1) return words;
  const auto tier = condition % over_time.tiers;
  if (!words.empty()) words += ", ";
  return words +
         (tier == 0 ? campaign.run.scenario.job.input.storage->name : settings.storage->tiers[tier - 1]);
}

/// Means of a figure in equal parts of the campaign, weighted by time.
template <class Figure>
std::vector<double> parts_of(const std::vector<CampaignSpan>& course, const Figure& figure) {
  const auto width = course.back().to_s / columns_of_course;
  std::vector<double> sums(columns_of_course), times(columns_of_course);
  for (const auto& span : course) {
    const auto first = std::min(columns_of_course - 1, static_cast<int>(span.from_s / width));
    for (int i = first; i < columns_of_course && i * width < span.to_s; ++i) {
      const auto time = std::min(span.to_s, (i + 1) * width) - std::max(span.from_s, i * width);
      sums[static_cast<std::size_t>(i)] += figure(span) * time;
      times[static_cast<std::size_t>(i)] += time;
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = times[i] > 0 ? sums[i] / times[i] : 0;
  return sums;
}

/// The largest exposed share of a step after the batch has adapted, and whether the rule keeps its limit.
void write_rule(Fields& fields, const Campaign& campaign) {
  const auto& rule = campaign.run.scenario.campaign->adapt;
  if (!rule) return;
  double most = 0;
  for (const auto& phase : campaign.answers.plan.over_time->phases)
    for (const auto& step : phase.steps) most = std::max(most, step.exposed / step.step);
  const bool is_kept = most <= rule->exposed;
  fields.add(
      "exposed",
      fmt::format("the exchange of gradients is exposed for up to {} of a step{}", percent_text(most),
                  is_kept ? ""
                          : fmt::format(", more than the {} of campaign.adapt: its largest batch is reached",
                                        percent_text(rule->exposed))),
      is_kept ? Paint::none : Paint::yellow);
}

void write_course(std::ostream& out, const Campaign& campaign, const Style& style) {
  const auto& course = campaign.answers.course;
  Fields fields{out, style};
  const auto unit = unit_of(campaign);
  const auto add = [&](const std::string& name, const auto& figure, const auto& text) {
    const auto values = parts_of(course, figure);
    const auto [least, most] = std::ranges::minmax(values);
    if (most <= 0) return;
    const auto low = text(least), high = text(most);
    fields.add(name, fmt::format("{}  {}", sparkline(values), low == high ? low : low + " to " + high));
  };
  add(
      noun_of(campaign) + "/s", [&](const CampaignSpan& span) { return span.samples_per_s * unit; },
      [](double rate) { return thousands_text(std::llround(rate)); });
  add(
      "batch", [](const CampaignSpan& span) { return span.batch; },
      [](double batch) { return thousands_text(std::llround(batch)) + " samples"; });
  add(
      "storage", [](const CampaignSpan& span) { return span.storage_read.value(); },
      [](double rate) { return rate_text(BytesPerSecond{rate}); });
  write_rule(fields, campaign);
}

struct PhaseRow {
  double seconds = 0, samples = 0;
};

void write_phases(std::ostream& out, const Campaign& campaign, const Style& style) {
  using enum Table::Align;
  std::map<std::pair<std::size_t, std::size_t>, PhaseRow> rows;
  for (const auto& span : campaign.answers.course) {
    if (!span.trains) continue;
    auto& row = rows[{span.phase, span.condition}];
    row.seconds += span.to_s - span.from_s;
    row.samples += span.samples_per_s * (span.to_s - span.from_s);
  }
  if (rows.size() < 2 || rows.size() > most_rows) return;
  Table table{{{"in the course of the training", left},
               {"", left},
               {"batch", right},
               {"step", right},
               {noun_of(campaign) + "/s", right},
               {"storage", right},
               {"time", right}}};
  for (const auto& [indices, row] : rows) {
    const auto& step = campaign.answers.plan.over_time->phases[indices.first].steps[indices.second];
    table.add({phase_in_words(campaign, indices.first), condition_in_words(campaign, indices.second),
               thousands_text(std::llround(step.samples)), time_text(step.step),
               thousands_text(std::llround(row.samples * unit_of(campaign) / row.seconds)),
               step.storage_read.value() > 0 ? rate_text(step.storage_read) : "",
               span_text(Seconds{row.seconds})});
  }
  out << '\n';
  table.write(out, style, "  ");
}

}  // namespace

void write_over_time(std::ostream& out, const Campaign& campaign, const Style& style) {
  if (!campaign.answers.plan.over_time || campaign.answers.course.empty()) return;
  if (!campaign.run.scenario.campaign->has_phases() && !campaign.run.scenario.campaign->adapt) return;
  write_phases(out, campaign, style);
  out << '\n';
  write_course(out, campaign, style);
}

std::string target_in_words(const Campaign& campaign) {
  const auto& target = *campaign.answers.target_steps;
  const auto& plan = campaign.answers.plan;
  const auto steps = [](double count) { return thousands_text(std::llround(count)); };
  return fmt::format(
      "{} steps ({} to {} if the critical batch of {} is off by a factor of 3); {}, {:.3g} times as many as "
      "very small batches need; no batch needs fewer than {} steps",
      steps(target.steps), steps(target.low), steps(target.high),
      amount_text(campaign, *plan.target->critical_batch), amount_text(campaign, plan.samples),
      plan.samples / target.least_samples, steps(std::ceil(target.least_steps)));
}

}  // namespace gradway::report
