// SPDX-License-Identifier: Apache-2.0
#include "sim/study/campaign/campaign_series.hpp"

#include <algorithm>
#include <cmath>

#include "sim/campaign/campaign_state.hpp"
#include "sim/campaign/formulas.hpp"

namespace gradway {
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
