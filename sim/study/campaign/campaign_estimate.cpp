// SPDX-License-Identifier: Apache-2.0
#include "sim/study/campaign/campaign_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/contract.hpp"
#include "sim/base/quantiles.hpp"
#include "sim/campaign/campaign_state.hpp"
#include "sim/campaign/formulas.hpp"
#include "sim/study/parallel.hpp"

namespace gradway {
namespace {

constexpr double seconds_of_an_hour = 3600;

template <class Figure>
Expected spread(const std::vector<CampaignRun>& runs, const Figure& figure) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const auto& run : runs) values.push_back(figure(run));
  return {quantile(values, 0.5), quantile(values, 0.05), quantile(values, 0.95)};
}

template <class Figure>
double mean(const std::vector<CampaignRun>& runs, const Figure& figure) {
  double sum = 0;
  for (const auto& run : runs) sum += figure(run);
  return sum / static_cast<double>(runs.size());
}

}  // namespace

double NodeCosts::usd_of(const CampaignRun& run) const {
  const auto spot = spot_usd ? run.spot_seconds * (spot_usd->value() - usd->value()) : 0;
  return (run.node_seconds * usd->value() + spot) / seconds_of_an_hour + run.other_usd;
}

double NodeCosts::kg_co2(double node_seconds) const {
  const auto kilowatts = carbon->node_power.value() / 1000 * carbon->pue;
  return node_seconds / seconds_of_an_hour * kilowatts * carbon->grams_per_kwh / 1000;
}

TimeShares time_shares(const CampaignRun& run) {
  const auto elapsed = static_cast<double>(run.elapsed);
  const auto share = [&](std::initializer_list<Bucket> buckets) {
    Ticks sum = 0;
    for (const auto bucket : buckets) sum += at(run.times, bucket);
    return elapsed > 0 ? static_cast<double>(sum) / elapsed : 1.0;
  };
  return {.goodput = share({Bucket::productive}),
          .effective = share({Bucket::productive, Bucket::stragglers, Bucket::narrow, Bucket::conditions}),
          .ettr = share({Bucket::productive, Bucket::stragglers, Bucket::narrow, Bucket::conditions,
                         Bucket::evaluation})};
}

std::vector<CampaignRun> simulate_seeds(const CampaignPlan& plan, Seconds interval, int seeds, int threads) {
  std::vector<CampaignRun> runs(static_cast<std::size_t>(seeds));
  for_each_in_parallel(runs.size(), threads, [&](std::size_t i) {
    runs[i] = simulate_campaign(plan, interval, static_cast<int>(i));
  });
  return runs;
}

CampaignEstimate estimate_of(const std::vector<CampaignRun>& runs, const CampaignPlan& plan,
                             const NodeCosts& rates) {
  expects(!runs.empty(), "an estimate needs at least one run");
  const auto seconds = [](const CampaignRun& run) { return seconds_of(run.elapsed).value(); };
  const auto usd = [&](const CampaignRun& run) { return rates.usd_of(run); };
  const auto shares = [](double TimeShares::*share) {
    return [share](const CampaignRun& run) { return time_shares(run).*share; };
  };
  CampaignEstimate estimate{
      .runs = static_cast<int>(runs.size()),
      .unfinished = static_cast<int>(std::ranges::count(runs, false, &CampaignRun::finished)),
      .seconds = spread(runs, seconds),
      .goodput = spread(runs, shares(&TimeShares::goodput)),
      .effective = spread(runs, shares(&TimeShares::effective)),
      .ettr = spread(runs, shares(&TimeShares::ettr)),
      .interruptions = spread(runs, [](const CampaignRun& run) { return run.failures + run.losses; }),
      .mean_s = mean(runs, seconds),
      .mean_checkpoints = mean(runs, [](const CampaignRun& run) { return run.checkpoints; }),
      .mean_storage_usd = mean(runs, [](const CampaignRun& run) { return run.storage_usd; }),
      .mean_data_usd = mean(runs, [](const CampaignRun& run) { return run.data_usd; }),
      .mean_exchanges = mean(runs, [](const CampaignRun& run) { return run.exchanges; }),
      .mean_void_rounds = mean(runs, [](const CampaignRun& run) { return run.void_rounds; }),
      .mean_asked = mean(runs, [](const CampaignRun& run) { return run.asked; }),
      .mean_updates = mean(runs, [](const CampaignRun& run) { return run.updates; }),
      .mean_sent_bytes = mean(runs, [](const CampaignRun& run) { return run.sent.value(); }),
      .ideal_s = plan.steps * plan.step.value()};
  for (const auto& run : runs) {
    estimate.seconds_by_seed.push_back(seconds(run));
    if (rates.usd) estimate.usd_by_seed.push_back(usd(run));
  }
  if (rates.usd) {
    estimate.usd = spread(runs, usd);
    estimate.mean_usd = mean(runs, usd);
  }
  if (rates.carbon)
    estimate.kg_co2 = spread(runs, [&](const CampaignRun& run) { return rates.kg_co2(run.node_seconds); });
  for (std::size_t i = 0; i < bucket_count; ++i)
    estimate.bucket_s[i] =
        mean(runs, [&](const CampaignRun& run) { return seconds_of(run.times[i]).value(); });
  return estimate;
}

namespace {

/// Fits time = a/t + bt + c by least squares. @return its minimum sqrt(a/b), or an end of the range if it has
/// none
double fitted_minimum(const std::vector<double>& t, const std::vector<double>& time, double shortest,
                      double longest) {
  const auto count = static_cast<double>(t.size());
  double u = 0, v = 0, y = 0;
  for (std::size_t i = 0; i < t.size(); ++i) u += 1 / t[i], v += t[i], y += time[i];
  u /= count, v /= count, y /= count;
  double uu = 0, uv = 0, vv = 0, uy = 0, vy = 0;
  for (std::size_t i = 0; i < t.size(); ++i) {
    const auto du = 1 / t[i] - u, dv = t[i] - v, dy = time[i] - y;
    uu += du * du, uv += du * dv, vv += dv * dv, uy += du * dy, vy += dv * dy;
  }
  const auto determinant = uu * vv - uv * uv;
  if (!(determinant > 0)) return std::clamp(t.front(), shortest, longest);
  const auto a = (uy * vv - vy * uv) / determinant, b = (vy * uu - uy * uv) / determinant;
  if (a <= 0) return shortest;
  if (b <= 0) return longest;
  return std::clamp(std::sqrt(a / b), shortest, longest);
}

Seconds shortest_interval(const CampaignPlan& plan) {
  return std::max(plan.step, seconds_of(plan.checkpoint.write));
}

Seconds longest_interval(const CampaignPlan& plan) {
  return std::max(plan.step * plan.steps, shortest_interval(plan));
}

double mean_goodput(const CampaignEstimate& estimate) {
  return estimate.mean_s > 0
             ? estimate.bucket_s[static_cast<std::size_t>(Bucket::productive)] / estimate.mean_s
             : 1;
}

}  // namespace

Seconds clamped_daly_interval(const CampaignPlan& plan) {
  const auto interruptions = plan.interruptions();
  if (interruptions.mttf == Seconds::infinite() || !plan.saves) return longest_interval(plan);
  return std::clamp(daly_interval(interruptions), shortest_interval(plan), longest_interval(plan));
}

IntervalChoice choose_interval(const CampaignPlan& plan, int seeds, int threads) {
  const auto interruptions = plan.interruptions();
  IntervalChoice choice{.best = clamped_daly_interval(plan), .shortest = shortest_interval(plan)};
  const auto goodput = [&](Seconds interval) {
    return estimate_of(simulate_seeds(plan, interval, seeds, threads), plan, {});
  };
  if (interruptions.mttf < Seconds::infinite() && plan.saves) {
    choice.young = young_interval(interruptions);
    choice.daly = daly_interval(interruptions);
    std::vector<double> intervals, times;
    const auto longest = longest_interval(plan);
    for (int i = -6; i <= 6; ++i) {
      const auto interval = std::clamp(choice.best * std::exp2(i / 2.0), choice.shortest, longest);
      if (!choice.curve.empty() && !(interval > choice.curve.back().interval)) continue;
      const auto estimate = goodput(interval);
      choice.curve.push_back({interval, mean_goodput(estimate)});
      if (std::abs(i) > 3) continue;
      intervals.push_back(interval.value());
      times.push_back(estimate.mean_s);
    }
    if (intervals.size() > 2)
      choice.best = Seconds{fitted_minimum(intervals, times, choice.shortest.value(), longest.value())};
  }
  choice.used = plan.interval.value_or(choice.best);
  choice.goodput_best = mean_goodput(goodput(choice.best));
  choice.goodput_used = plan.interval ? mean_goodput(goodput(choice.used)) : choice.goodput_best;
  if (choice.daly) choice.goodput_daly = efficiency(interruptions, choice.used);
  return choice;
}

namespace {

/// A time at which the course of a run changes.
struct Turn {
  Ticks at = 0;
  Ticks before = 0, after = 0;  ///< progress up to it, and from it on
  bool trains = true;           ///< from it on
  std::optional<ConditionRecord> conditions{};
};

std::vector<Turn> turns_of(const CampaignRun& run) {
  std::vector<Turn> turns{{}};
  for (const auto& record : run.conditions)
    turns.push_back({record.at, record.progress, record.progress, true, record});
  for (const auto& stop : run.interruptions) {
    turns.push_back({stop.from, stop.before, stop.after, false, {}});
    turns.push_back({stop.to, stop.after, stop.after, true, {}});
  }
  turns.push_back({run.elapsed, run.work, run.work, false, {}});
  std::ranges::stable_sort(turns, {}, &Turn::at);
  return turns;
}

/// Samples that were trained up to a progress.
class SamplesOfProgress {
 public:
  SamplesOfProgress(const CampaignPlan& plan, Ticks work) : plan_{plan}, work_{static_cast<double>(work)} {}

  double operator()(Ticks progress) const {
    const auto share = static_cast<double>(progress) / work_;
    if (!plan_.over_time) return plan_.samples * share;
    const auto& ends = plan_.over_time->ends;
    const auto time = ends.back().time * share;
    PhaseEnd before;
    for (const auto& end : ends) {
      if (time < end.time)
        return before.samples +
               (end.samples - before.samples) * ((time - before.time) / (end.time - before.time));
      before = end;
    }
    return before.samples;
  }

 private:
  const CampaignPlan& plan_;
  double work_;
};

/// Dollars since the start of a run. Nodes and transfers cost the same at all times, storage from the time on
/// at which it is requested.
double usd_at(const CampaignRun& run, Ticks time, double total) {
  const auto share = static_cast<double>(time) / static_cast<double>(run.elapsed);
  return (total - keeping_usd(run.kept, run.elapsed)) * share + keeping_usd(run.kept, time);
}

}  // namespace

std::vector<CampaignSpan> course_of(const CampaignRun& run, const CampaignPlan& plan,
                                    const NodeCosts& costs) {
  if (plan.rounds || run.work == 0) return {};
  const auto all_usd = costs.usd ? costs.usd_of(run) : 0;
  const auto turns = turns_of(run);
  const SamplesOfProgress samples{plan, run.work};
  std::vector<CampaignSpan> spans;
  ConditionRecord current;
  for (std::size_t i = 0; i + 1 < turns.size(); ++i) {
    const auto& turn = turns[i];
    const auto& next = turns[i + 1];
    if (turn.conditions) current = *turn.conditions;
    if (next.at == turn.at) continue;
    CampaignSpan span{.from_s = seconds_of(turn.at).value(),
                      .to_s = seconds_of(next.at).value(),
                      .trains = turn.trains,
                      .phase = current.phase,
                      .condition = current.condition,
                      .batch = plan.samples_per_step,
                      .step = plan.step};
    if (plan.over_time) {
      const auto& step = plan.over_time->phases[current.phase].steps[current.condition];
      span.batch = step.samples;
      span.step = step.step;
      if (span.trains) span.storage_read = step.storage_read;
    }
    if (span.trains)
      span.samples_per_s = (samples(next.before) - samples(turn.after)) / (span.to_s - span.from_s);
    if (costs.usd) span.usd = usd_at(run, next.at, all_usd);
    spans.push_back(span);
  }
  return spans;
}

std::optional<TargetSteps> target_steps(const CampaignPlan& plan) {
  if (!plan.target || !plan.target->critical_batch) return std::nullopt;
  const auto steps_with = [&](double factor) {
    auto target = *plan.target;
    *target.critical_batch *= factor;
    return phase_ends(plan.over_time->phases, target).back().steps;
  };
  const auto smaller = steps_with(1 / critical_batch_error), larger = steps_with(critical_batch_error);
  const auto& target = *plan.target;
  const auto least =
      target.samples * target.more_steps / samples_to_target(target.batch, *target.critical_batch);
  return TargetSteps{.steps = plan.steps,
                     .low = std::min({smaller, larger, plan.steps}),
                     .high = std::max({smaller, larger, plan.steps}),
                     .least_samples = least,
                     .least_steps = least / *target.critical_batch};
}

}  // namespace gradway
