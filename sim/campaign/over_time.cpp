// SPDX-License-Identifier: Apache-2.0
#include "sim/campaign/over_time.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/contract.hpp"
#include "sim/campaign/formulas.hpp"

namespace gradway {
namespace {

constexpr Ticks ticks_per_hour = 3'600'000'000'000;
constexpr Ticks ticks_per_day = 24 * ticks_per_hour;

Ticks ticks_of_hour(double hour) {
  return std::llround(hour * static_cast<double>(ticks_per_hour));
}

/// Samples that advance the training as much as one sample of a very small batch.
double samples_of_progress(const StepVariant& step, const TargetData& target) {
  return target.critical_batch ? samples_to_target(step.samples, *target.critical_batch) : 1;
}

/// Time in which the training advances as much as by one sample of a very small batch.
double time_of_progress(const StepVariant& step, const TargetData& target) {
  return step.step.value() / step.samples * samples_of_progress(step, target);
}

const StepVariant& fastest(const PhaseSteps& phase, const TargetData& target) {
  return *std::ranges::min_element(phase.steps, {},
                                   [&](const StepVariant& step) { return time_of_progress(step, target); });
}

}  // namespace

std::vector<PhaseEnd> phase_ends(const std::vector<PhaseSteps>& phases, const TargetData& target) {
  expects(!phases.empty() && !phases.back().until, "the last phase has no end");
  auto remaining = target.samples * target.more_steps;
  if (target.critical_batch) remaining /= samples_to_target(target.batch, *target.critical_batch);
  std::vector<PhaseEnd> ends;
  PhaseEnd end;
  for (const auto& phase : phases) {
    const auto& step = fastest(phase, target);
    const auto needed = remaining * samples_of_progress(step, target);
    const auto samples = phase.until ? std::min(needed, std::max(0.0, *phase.until - end.samples)) : needed;
    const auto steps = std::ceil(samples / step.samples * (1 - 1e-12));
    remaining -= steps * step.samples / samples_of_progress(step, target);
    end = {end.samples + steps * step.samples, end.steps + steps, end.time + step.step * steps};
    ends.push_back(end);
    if (remaining <= 0) break;
  }
  return ends;
}

OverTimePlan over_time_plan(std::vector<PhaseSteps> phases, const TargetData& target,
                            const CampaignSettings& settings) {
  OverTimePlan plan{.phases = std::move(phases), .ends = {}, .stretch = {}, .hours = {}};
  plan.ends = phase_ends(plan.phases, target);
  plan.phases.resize(plan.ends.size());
  for (const auto& phase : plan.phases) {
    const auto least = time_of_progress(fastest(phase, target), target);
    auto& stretch = plan.stretch.emplace_back();
    for (const auto& step : phase.steps) stretch.push_back(time_of_progress(step, target) / least);
  }
  for (const auto& phase : settings.phases)
    if (phase.from) plan.hours.push_back({ticks_of_hour(*phase.from), ticks_of_hour(*phase.to)});
  if (const auto& growth = settings.storage) {
    plan.tiers = growth->tiers.size() + 1;
    plan.grows_at = growth->load;
    plan.delay = std::llround(growth->delay.value() * 1e9);
    plan.cool_down = std::llround(growth->cool_down.value() * 1e9);
  }
  return plan;
}

ConditionState::ConditionState(const OverTimePlan& plan) : plan_{&plan} {
  kept_.push_back({0, plan.phases.front().steps.front().storage_usd_per_s});
  update(0, 0);
}

bool ConditionState::update(Ticks time, std::size_t phase) {
  const auto before = condition();
  const auto of_day = time % ticks_per_day;
  next_change_ = never;
  hour_ = plan_->hours.size();
  for (std::size_t i = plan_->hours.size(); i-- > 0;) {
    const auto& [from, to] = plan_->hours[i];
    if (from == to) continue;
    if (from < to ? of_day >= from && of_day < to : of_day >= from || of_day < to) hour_ = i;
    for (const auto edge : {from, to}) {
      const auto until_edge = (edge - of_day + ticks_per_day - 1) % ticks_per_day + 1;
      next_change_ = std::min(next_change_, time + until_edge);
    }
  }
  grow(time, phase);
  return condition() != before;
}

void ConditionState::grow(Ticks time, std::size_t phase) {
  const auto is_loaded = [&] {
    return tier_ + 1 < plan_->tiers &&
           plan_->phases[phase].steps[condition()].storage_busy >= plan_->grows_at;
  };
  while (true) {
    if (ready_ && *ready_ <= time) {
      ++tier_;
      ready_.reset();
    }
    if (ready_ || !is_loaded() || time < next_request_) break;
    ready_ = time + plan_->delay;
    next_request_ = time + plan_->cool_down;
    kept_.push_back({time, plan_->phases[phase].steps[plan_->condition(hour_, tier_ + 1)].storage_usd_per_s});
  }
  if (ready_) next_change_ = std::min(next_change_, *ready_);
  if (!ready_ && is_loaded()) next_change_ = std::min(next_change_, next_request_);
}

}  // namespace gradway
