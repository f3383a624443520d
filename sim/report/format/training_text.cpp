// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/training_text.hpp"

#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/format/text.hpp"

namespace gradway::report {
namespace {

struct SpanUnit {
  const char* name;
  double seconds;
  double from;  ///< shortest time, in seconds, that is written in this unit
};
constexpr std::array span_units{SpanUnit{"min", 60, 120}, SpanUnit{"h", 3600, 7200},
                                SpanUnit{"days", 86400, 172800}};

struct Word {
  const char* name;
  double factor;
};
constexpr std::array words_of_counts{Word{"", 1}, Word{"k", 1e3}, Word{"M", 1e6}, Word{"B", 1e9},
                                     Word{"T", 1e12}};

/// The time in a unit of the table above; shorter times as by `time_text`.
std::string span_of(Seconds time, int most) {
  const SpanUnit* unit = nullptr;
  for (const auto& candidate : span_units)
    if (time.value() >= candidate.from) unit = &candidate;
  return unit == nullptr ? time_text(time)
                         : fmt::format("{} {}", digits_text(time.value() / unit->seconds, most), unit->name);
}

/// The deadline as the user probably gave it: "14 days", "1 day", "36 h".
std::string deadline_text(Seconds deadline) {
  const auto days = deadline.value() / 86400;
  return days == std::floor(days) ? counted_text(std::llround(days), "day") : span_text(deadline);
}

bool is_range(const Expected& expected) {
  return expected.low < expected.high;
}

std::string possibly_met_note(const std::optional<LimitStatus>& met) {
  return met == LimitStatus::may_be_met ? ": it may be met" : "";
}

}  // namespace

std::string amount_in_words(const TrainingGoal& goal) {
  const auto count = goal.tokens ? *goal.tokens : *goal.samples;
  const auto* best = &words_of_counts.front();
  for (const auto& word : words_of_counts)
    if (count >= word.factor) best = &word;
  return fmt::format("{:.4g}{}{} {}", count / best->factor, *best->name == '\0' ? "" : " ", best->name,
                     goal.tokens ? "tokens" : "samples");
}

std::string span_text(Seconds time) {
  return span_of(time, 4);
}

std::string span_range_text(const Expected& seconds) {
  auto first = span_of(Seconds{seconds.low}, 3);
  const auto last = span_of(Seconds{seconds.high}, 3);
  const auto unit_of = [](const std::string& text) { return text.substr(text.rfind(' ')); };
  if (unit_of(first) == unit_of(last)) first = first.substr(0, first.rfind(' '));
  return fmt::format("{} to {}", first, last);
}

std::string usd_text(double usd) {
  return digits_text(usd, 4);
}

std::string price_text(double usd_per_hour) {
  constexpr double least_of_two_decimals = 10;
  return usd_per_hour < least_of_two_decimals ? digits_text(usd_per_hour, 4)
                                              : fmt::format("{:.2f}", usd_per_hour);
}

std::string usd_range_text(const Expected& usd) {
  return fmt::format("{} to {}", digits_text(usd.low, 3), digits_text(usd.high, 3));
}

std::string span_with_range_text(const Expected& seconds) {
  const auto time = span_text(Seconds{seconds.value});
  return is_range(seconds) ? fmt::format("{} ({})", time, span_range_text(seconds)) : time;
}

std::string usd_with_range_text(const Expected& usd) {
  return is_range(usd) ? fmt::format("{} USD ({})", usd_text(usd.value), usd_range_text(usd))
                       : fmt::format("{} USD", usd_text(usd.value));
}

std::string describe(LimitStatus met) {
  constexpr std::array words{"met", "may be met", "not met"};
  return words[static_cast<std::size_t>(met)];
}

std::string missed_limits_in_words(const Training& training) {
  std::vector<std::string> reasons;
  if (training.deadline && training.seconds.value > training.deadline->value())
    reasons.push_back(fmt::format("takes {}, but the deadline is {}{}",
                                  span_with_range_text(training.seconds), deadline_text(*training.deadline),
                                  possibly_met_note(training.in_time)));
  if (training.budget_usd && !training.usd)
    reasons.push_back("the cost is unknown, so that the budget cannot be checked");
  if (training.budget_usd && training.usd && training.usd->value > *training.budget_usd)
    reasons.push_back(fmt::format("costs {}, but the budget is {} USD{}", usd_with_range_text(*training.usd),
                                  usd_text(*training.budget_usd), possibly_met_note(training.in_budget)));
  return fmt::format("{}", fmt::join(reasons, "; "));
}

void add_training(Fields& fields, const TrainingGoal& goal, const Training& training) {
  const auto paint_of = [](LimitStatus met) {
    return met == LimitStatus::missed       ? Paint::red
           : met == LimitStatus::may_be_met ? Paint::yellow
                                            : Paint::none;
  };
  fields.add(
      "training",
      fmt::format("{} in {} steps: {}", amount_in_words(goal), thousands_text(std::llround(training.steps)),
                  span_with_range_text(training.seconds)),
      Paint::bold);
  if (training.usd) fields.add("", usd_with_range_text(*training.usd), Paint::bold);
  if (training.deadline)
    fields.add("deadline",
               fmt::format("{}: {}", deadline_text(*training.deadline), describe(*training.in_time)),
               paint_of(*training.in_time));
  if (!training.budget_usd) return;
  const auto budget = usd_text(*training.budget_usd);
  if (training.in_budget) {
    fields.add("budget", fmt::format("{} USD: {}", budget, describe(*training.in_budget)),
               paint_of(*training.in_budget));
  } else {
    fields.add("budget", fmt::format("{} USD: unknown, because the platform has no price", budget),
               Paint::yellow);
  }
}

std::string basis_of_cost(const Price& price) {
  if (price.date.empty()) return price.source;
  auto words = fmt::format("{}, {}", price.region, price.date);
  if (price.terms != Terms::on_demand) words = fmt::format("{}, {}", name_of(price.terms), words);
  if (const auto& foreign = price.foreign)
    words += fmt::format(", {} USD/{} of {}", foreign->rate.usd, foreign->rate.currency, foreign->rate.date);
  return words;
}

nlohmann::ordered_json price_json(const std::optional<Price>& price) {
  if (!price) return nullptr;
  nlohmann::ordered_json json{{"usd_per_node_hour", price->per_node.value()},
                              {"by_gpu", price->by_gpu},
                              {"terms", name_of(price->terms)},
                              {"region", price->region},
                              {"date", price->date},
                              {"source", price->source},
                              {"converted_from", nullptr}};
  if (const auto& foreign = price->foreign)
    json["converted_from"] = {{"per_node_hour", foreign->per_node},
                              {"currency", foreign->rate.currency},
                              {"usd", foreign->rate.usd},
                              {"date", foreign->rate.date},
                              {"source", foreign->rate.source}};
  return json;
}

}  // namespace gradway::report
