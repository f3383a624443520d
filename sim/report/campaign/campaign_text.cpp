// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>

#include <fmt/format.h>

#include "sim/campaign/local_sgd.hpp"
#include "sim/report/campaign/campaign.hpp"
#include "sim/report/format/fact_words.hpp"
#include "sim/report/format/fields.hpp"
#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/training_text.hpp"
#include "sim/report/format/words.hpp"

namespace gradway::report {
namespace {

using enum Table::Align;

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
  std::map<std::pair<std::size_t, std::size_t>, PhaseRow> rows;
  for (const auto& span : campaign.answers.course) {
    if (!span.trains) continue;
    auto& row = rows[{span.phase, span.condition}];
    row.seconds += span.to_s - span.from_s;
    row.samples += span.samples_per_s * (span.to_s - span.from_s);
  }
  if (rows.size() < 2 || rows.size() > most_rows) return;
  Table table;
  for (const auto& [indices, row] : rows) {
    const auto& step = campaign.answers.plan.over_time->phases[indices.first].steps[indices.second];
    const auto rate = std::llround(row.samples * unit_of(campaign) / row.seconds);
    table.add_cells({{"in the course of the training", phase_in_words(campaign, indices.first)},
                     {"", condition_in_words(campaign, indices.second)},
                     {"batch", thousands_text(std::llround(step.samples)), right},
                     {"step", time_text(step.step), right},
                     {noun_of(campaign) + "/s", thousands_text(rate), right},
                     {"storage", step.storage_read.value() > 0 ? rate_text(step.storage_read) : "", right},
                     {"time", span_text(Seconds{row.seconds}), right}});
  }
  out << '\n';
  table.write(out, style, "  ");
}

/// Writes the course of a campaign in phases: its throughput, batch and storage over time, and each phase
/// under each of its conditions. Nothing for other campaigns.
void write_over_time(std::ostream& out, const Campaign& campaign, const Style& style) {
  if (!campaign.answers.plan.over_time || campaign.answers.course.empty()) return;
  if (!campaign.run.scenario.campaign->has_phases() && !campaign.run.scenario.campaign->adapt) return;
  write_phases(out, campaign, style);
  out << '\n';
  write_course(out, campaign, style);
}

/// "22,900 steps (18,100 to 35,700); ..." @pre the campaign has a critical batch
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

std::string with_range(const std::string& value, const std::string& range, const Expected& expected) {
  return expected.low < expected.high ? fmt::format("{} ({})", value, range) : value;
}

std::string share_range(const Expected& share) {
  return with_range(percent_text(share.value),
                    fmt::format("{} to {}", percent_text(share.low), percent_text(share.high)), share);
}

/// Time between checkpoints, usually minutes.
std::string pause_text(Seconds time) {
  return time < Seconds{120} ? time_text(time) : span_text(time);
}

/// "0.7 s (6.7 s the first time after each start)"
std::string save_pause_text(const CheckpointCost& cost) {
  auto usual = time_text(seconds_of(cost.pause));
  if (cost.allocation == 0) return usual;
  return fmt::format("{} ({} the first time after each start)", usual,
                     time_text(seconds_of(cost.pause + cost.allocation)));
}

std::vector<ClientTurn> turns_of(const RoundsPlan& rounds) {
  std::vector<ClientTurn> turns;
  for (const auto& client_class : rounds.classes)
    turns.push_back(
        {seconds_of(client_class.down), seconds_of(client_class.compute), seconds_of(client_class.up)});
  return turns;
}

std::string rounds_in_words(const CampaignPlan& plan, const CampaignEstimate& estimate) {
  const auto& rounds = *plan.rounds;
  const auto mean_rounds = estimate.mean_exchanges + estimate.mean_void_rounds;
  return fmt::format(
      "{} clients are selected per round; {} updates complete it, on average after {}; {:.4g} rounds, {}{} "
      "of the requested updates are used, {} sent",
      thousands_text(rounds.asked), thousands_text(rounds.target),
      pause_text(Seconds{estimate.mean_s / mean_rounds}), mean_rounds,
      estimate.mean_void_rounds > 0 ? fmt::format("{:.3g} of them failed,  ", estimate.mean_void_rounds) : "",
      percent_text(estimate.mean_updates / estimate.mean_asked), bytes_text(Bytes{estimate.mean_sent_bytes}));
}

void add_goal(Fields& fields, const Campaign& campaign) {
  const auto& run = campaign.run;
  const auto& settings = *run.scenario.campaign;
  const auto& plan = campaign.answers.plan;
  fields.add("model", run.scenario.model.name);
  fields.add("platform", fmt::format("{}: {}", run.scenario.platform.name,
                                     hardware_in_words(run.scenario.platform, run.scenario.job.gpus)));
  const auto amount = settings.epochs ? fmt::format("{:.4g} epochs", *settings.epochs)
                      : settings.rounds
                          ? counted_text(*settings.rounds, "round")
                          : amount_in_words({.tokens = settings.tokens, .samples = settings.samples});
  const auto& range = plan.step_range;
  fields.add(
      "training",
      fmt::format("{} in {} of {}{}{}", amount, counted_text(std::llround(plan.steps), "step"),
                  time_text(plan.step),
                  plan.over_time && plan.over_time->phases.size() > 1 ? " on average" : "",
                  range.low < range.high ? fmt::format(" ({})", range_text(range.low, range.high)) : ""));
  if (campaign.answers.target_steps) fields.add("target", target_in_words(campaign));
  if (plan.saves)
    fields.add("checkpoint", fmt::format("{}: a pause of {}{}, every {}", bytes_text(plan.checkpoint.size),
                                         save_pause_text(plan.checkpoint),
                                         plan.checkpoint.write > 0
                                             ? fmt::format(", on storage {} later",
                                                           pause_text(seconds_of(plan.checkpoint.write)))
                                             : "",
                                         pause_text(campaign.answers.interval.used)));
  if (plan.staging > 0)
    fields.add("staging", fmt::format("{} from {}, {}", pause_text(seconds_of(plan.staging)),
                                      run.scenario.job.input.staged_from->name,
                                      run.scenario.job.input.stage_in == StageIn::before
                                          ? "before the first step"
                                          : "by which it lengthens the first epochs"));
  if (const auto& local = run.scenario.job.local_sgd; plan.rounds) {
    fields.add("clients", clients_in_words(*local, turns_of(*plan.rounds)));
    fields.add("rounds", rounds_in_words(plan, campaign.answers.estimate));
  } else if (local) {
    fields.add("workers", describe(outer_loop_of(run.scenario.model, *local, plan.step), *local));
  }
  if (const auto mttf = plan.mttf(); mttf < Seconds::infinite())
    fields.add("interrupted", fmt::format("every {} on average; a restart takes {}", span_text(mttf),
                                          pause_text(seconds_of(plan.restart()))));
}

void add_results(Fields& fields, const Campaign& campaign) {
  const auto& estimate = campaign.answers.estimate;
  fields.add("takes", span_with_range_text(estimate.seconds), Paint::bold);
  if (estimate.usd)
    fields.add("costs",
               fmt::format("{}, {}", usd_with_range_text(*estimate.usd),
                           campaign.answers.plan.rounds ? "for clients and what is sent"
                                                        : name_of(campaign.run.scenario.campaign->terms)),
               Paint::bold);
  if (const auto& price = campaign.answers.price; estimate.usd && price)
    fields.add("prices", basis_of_cost(*price));
  if (estimate.mean_storage_usd > 0)
    fields.add("", fmt::format("of which {} USD for checkpoints on {}", usd_text(estimate.mean_storage_usd),
                               campaign.run.scenario.campaign->checkpoint->storage->name));
  if (estimate.usd && estimate.mean_data_usd > 0)
    fields.add("", fmt::format("of which {} USD for samples on {}", usd_text(estimate.mean_data_usd),
                               campaign.run.scenario.job.input.storage->name));
  if (estimate.kg_co2)
    fields.add("emissions", fmt::format("{:.4g} t of CO2 ({:.3g} to {:.3g})", estimate.kg_co2->value / 1000,
                                        estimate.kg_co2->low / 1000, estimate.kg_co2->high / 1000));
  const Expected shares[] = {estimate.goodput, estimate.effective, estimate.ettr};
  for (std::size_t i = 0; i < share_words().size(); ++i)
    fields.add(share_words()[i].label, share_range(shares[i]));
  const auto& interruptions = estimate.interruptions;
  if (interruptions.high > 0)
    fields.add("stops", with_range(fmt::format("{:.0f}", interruptions.value),
                                   fmt::format("{:.0f} to {:.0f}", interruptions.low, interruptions.high),
                                   interruptions));
  const auto& [run, questions, answers] = campaign;
  if (questions.deadline)
    fields.add("deadline", fmt::format("{}: met by {} of the runs", span_text(*questions.deadline),
                                       percent_text(*answers.in_time)));
  if (questions.budget_usd)
    fields.add("budget", answers.in_budget
                             ? fmt::format("{} USD: met by {} of the runs", usd_text(*questions.budget_usd),
                                           percent_text(*answers.in_budget))
                             : "unknown, because the platform has no price");
}

void write_waterfall(std::ostream& out, const CampaignEstimate& estimate, const Style& style) {
  Table table{{{"where the time goes"}, {"", right}, {"", right}}};
  const auto add = [&](std::string_view label, double seconds) {
    table.add({std::string{label}, span_text(Seconds{seconds}), percent_text(seconds / estimate.mean_s)});
  };
  for (std::size_t i = 0; i < bucket_count; ++i)
    if (estimate.bucket_s[i] > 0) add(bucket_words()[i].label, estimate.bucket_s[i]);
  add("total, on average", estimate.mean_s);
  out << '\n';
  table.write(out, style, "  ");
}

void write_interval(std::ostream& out, const IntervalChoice& choice, const Style& style) {
  if (!choice.daly) return;
  Table table{{{"time between checkpoints"}, {"", right}, {"goodput", right}}};
  if (choice.used != choice.best)
    table.add({"in use", pause_text(choice.used), percent_text(choice.goodput_used)});
  table.add({"best, as simulated", pause_text(choice.best), percent_text(choice.goodput_best)});
  table.add({"Young", pause_text(*choice.young), ""});
  table.add({"Daly", pause_text(*choice.daly), ""});
  out << '\n';
  table.write(out, style, "  ");
}

std::string saved_text(double saves, const std::string& amount) {
  return std::abs(saves) > 0 ? fmt::format("{}{}", saves > 0 ? "-" : "+", amount) : "0";
}

void write_what_ifs(std::ostream& out, const CampaignAnswers& answers, const Style& style) {
  if (answers.what_ifs.empty()) return;
  Table table{{{"what would help"}, {"time", right}, {"USD", right}, {"goodput", right}}};
  for (const auto& what_if : answers.what_ifs) {
    table.add(
        {what_if.change, saved_text(what_if.saves_s, span_text(Seconds{std::abs(what_if.saves_s)})),
         what_if.saves_usd ? saved_text(*what_if.saves_usd, usd_text(std::abs(*what_if.saves_usd))) : "",
         percent_text(what_if.estimate.goodput.value)});
  }
  out << '\n';
  table.write(out, style, "  ");
}

std::string terms_in_words(const CampaignTerms& offer) {
  if (offer.share == 1) return std::string{name_of(offer.terms)};
  return fmt::format("{} for {} of the nodes, the others on demand", name_of(offer.terms),
                     percent_text(offer.share));
}

void write_terms(std::ostream& out, const CampaignAnswers& answers, const Style& style) {
  if (answers.terms.size() < 2) return;
  Table table{{{"terms"}, {"USD/node-hour", right}, {"takes"}, {"costs"}}};
  for (const auto& offer : answers.terms)
    table.add({terms_in_words(offer), usd_text(offer.per_node.value()),
               span_with_range_text(offer.estimate.seconds), usd_with_range_text(*offer.estimate.usd)});
  out << '\n';
  table.write(out, style, "  ");
}

void write_moved(std::ostream& out, const CampaignAnswers& answers, const Style& style) {
  if (!answers.moved) return;
  const auto& moved = *answers.moved;
  const auto& estimate = answers.estimate;
  const auto usd = [](const std::optional<double>& amount) { return amount ? usd_text(*amount) : ""; };
  const auto and_moving = [&](double training_usd) {
    return moved.training_usd ? std::optional{moved.transfer_usd + training_usd} : std::nullopt;
  };
  Table table{{{"alternative: data in one place", left}, {"sent", right}, {"takes", right}, {"USD", right}}};
  table.add({"as configured, on average", bytes_text(moved.exchanged), span_text(Seconds{estimate.mean_s}),
             usd(estimate.mean_usd)});
  table.add({"move the data", bytes_text(moved.data), span_text(moved.transfer_time),
             usd_text(moved.transfer_usd)});
  table.add({"... then train on the GPUs of one worker", "", span_text(moved.transfer_time + moved.training),
             usd(and_moving(moved.training_usd.value_or(0)))});
  table.add({"... or, at best, on as many GPUs as all workers have", "",
             span_text(moved.transfer_time + moved.best_training_time),
             usd(and_moving(moved.training_usd.value_or(0)))});
  out << '\n';
  table.write(out, style, "  ");
}

}  // namespace

void write_text(std::ostream& out, const Campaign& campaign, const Style& style) {
  const auto& [run, questions, answers] = campaign;
  Fields fields{out, style};
  out << style.paint(Paint::bold, run.scenario.name) << '\n';
  add_goal(fields, campaign);
  add_results(fields, campaign);
  write_waterfall(out, answers.estimate, style);
  write_over_time(out, campaign, style);
  write_interval(out, answers.interval, style);
  write_what_ifs(out, answers, style);
  write_terms(out, answers, style);
  write_moved(out, answers, style);
  out << '\n';
  for (const auto& words : share_words()) fields.add(words.label, words.meaning);
  fields.add(
      "figures",
      fmt::format(
          "medians of {} runs with 90 % intervals; the parts of the time are means, so that they add up",
          thousands_text(answers.estimate.runs)));
  fields.add("provenance", provenance_in_short(answers.basis));
  auto warnings = run.warnings;
  for (const auto& warning : answers.warnings) add(warnings, warning);
  fields.add("warning", with_codes(warnings), Paint::yellow);
}

}  // namespace gradway::report
