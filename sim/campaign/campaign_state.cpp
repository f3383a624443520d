// SPDX-License-Identifier: Apache-2.0
#include "sim/campaign/campaign_state.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gradway {

std::array<std::pair<Bucket, Ticks>, 5> parts_of_steps(Ticks time, Ticks done, const SlowDowns& slow_downs) {
  auto remaining = std::max<Ticks>(0, time - done);
  const auto take = [&](double amount) {
    const auto taken = std::min(remaining, static_cast<Ticks>(amount));
    remaining -= taken;
    return taken;
  };
  const auto alone = static_cast<double>(done);
  auto by_conditions = take(alone * (slow_downs.conditions - 1));
  const auto by_width = take(alone * slow_downs.conditions * (slow_downs.width - 1));
  const auto by_save = take(alone * slow_downs.conditions * slow_downs.width * (slow_downs.write - 1));
  constexpr Ticks rounding = 4;
  if (slow_downs.conditions > 1 && remaining <= rounding) by_conditions += std::exchange(remaining, 0);
  return {{{Bucket::productive, std::min(time, done)},
           {Bucket::conditions, by_conditions},
           {Bucket::narrow, by_width},
           {Bucket::saving, by_save},
           {Bucket::stragglers, remaining}}};
}

const FailureCause* cause_at(std::span<const FailureCause> causes, double share) {
  double total = 0;
  for (const auto& cause : causes) total += cause.count;
  auto remaining = share * total;
  const FailureCause* chosen = nullptr;
  for (const auto& cause : causes) {
    chosen = &cause;
    if ((remaining -= cause.count) < 0) break;
  }
  return chosen;
}

double keeping_usd(const std::vector<KeptStorage>& kept, Ticks end) {
  double usd = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const auto until = i + 1 < kept.size() ? std::min(end, kept[i + 1].from) : end;
    usd += kept[i].usd_per_s * seconds_of(std::max<Ticks>(0, until - kept[i].from)).value();
  }
  return usd;
}

CampaignCourse::CampaignCourse(const OverTimePlan* plan, Ticks work) : plan_{plan} {
  if (plan == nullptr) return;
  for (const auto& end : plan->ends)
    ends_.push_back(std::llround(end.time / plan->ends.back().time * static_cast<double>(work)));
  conditions_.emplace(*plan);
}

std::vector<Ticks> CampaignCourse::progress_of_steps(double every) const {
  std::vector<Ticks> due;
  double steps_before = 0;
  Ticks before = 0;
  double next = every;
  for (std::size_t phase = 0; phase < ends_.size(); ++phase) {
    const auto steps = plan_->ends[phase].steps - steps_before;
    const auto time = static_cast<double>(ends_[phase] - before);
    for (; next < steps_before + steps - 1e-9; next += every)
      due.push_back(before + std::llround((next - steps_before) / steps * time));
    steps_before += steps;
    before = ends_[phase];
  }
  if (std::abs(next - steps_before) <= 1e-6) due.push_back(before);  // as regular pauses have it
  return due;
}

std::size_t CampaignCourse::phase_of(Ticks progress) const {
  if (plan_ == nullptr) return 0;
  const auto end = std::ranges::upper_bound(ends_, progress);
  return std::min(static_cast<std::size_t>(end - ends_.begin()), ends_.size() - 1);
}

Ticks CampaignCourse::end_after(Ticks progress) const {
  return plan_ != nullptr ? ends_[phase_of(progress)] : never;
}

bool CampaignCourse::update(Ticks time, Ticks progress) {
  if (plan_ == nullptr) return false;
  const auto before = std::exchange(phase_, phase_of(progress));
  if (!conditions_->update(time, phase_) && before == phase_) return false;
  ++changes_;
  return true;
}

std::vector<KeptStorage> CampaignCourse::kept() const {
  return plan_ != nullptr && plan_->tiers > 1 ? conditions_->kept() : std::vector<KeptStorage>{};
}

}  // namespace gradway
