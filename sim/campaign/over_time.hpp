// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/scenario/campaign.hpp"

// Campaigns whose steps differ in their course: with the amount of data, the hour, and the load of storage.
namespace gradway {

/// Whole nanoseconds, so that parts of a campaign add up exactly.
using Ticks = std::int64_t;
inline constexpr Ticks never = std::numeric_limits<Ticks>::max() / 4;

/// The step under one condition of a campaign.
struct StepVariant {
  Seconds step{};
  double samples = 0;             ///< global batch
  Seconds exposed{};              ///< exchange of gradients
  BytesPerSecond storage_read{};  ///< by the loaders
  double storage_busy = 0;        ///< share of its rate that storage delivers
  double storage_usd_per_s = 0;   ///< for keeping the dataset
};

/// Part of a campaign by its amount of data, with its step under each condition: hours of the day (last: all
/// others) by tiers of storage.
struct PhaseSteps {
  std::optional<double> until{};  ///< samples; empty: the end of the campaign
  std::vector<StepVariant> steps{};
};

/// Data, steps and time at the end of a phase, from the start of the campaign.
struct PhaseEnd {
  double samples = 0;
  double steps = 0;
  Seconds time{};  ///< with the fastest of its conditions
};

/// How many samples reach the target.
struct TargetData {
  double samples = 0;                      ///< with batches of `batch`
  double batch = 0;                        ///< samples
  std::optional<double> critical_batch{};  ///< samples; empty: samples do not depend on the batch
  double more_steps = 1;
};

/// The ends of the phases, whose last one ends when the target is reached. A phase that would begin later is
/// left out. Phases end after whole steps.
std::vector<PhaseEnd> phase_ends(const std::vector<PhaseSteps>& phases, const TargetData& target);

/// A campaign in phases, for the simulation of its runs.
struct OverTimePlan {
  struct Hours {
    Ticks from = 0, to = 0;  ///< of the day; equal: never
  };
  std::vector<PhaseSteps> phases;
  std::vector<PhaseEnd> ends;
  std::vector<std::vector<double>> stretch;  ///< of a step, by phase and condition; the fastest one has 1
  std::vector<Hours> hours;                  ///< the first that contains an hour counts
  std::size_t tiers = 1;
  double grows_at = 1;
  Ticks delay = 0, cool_down = 0;

  std::size_t condition(std::size_t hour, std::size_t tier) const { return hour * tiers + tier; }
  /// The mean time of a step with the fastest conditions.
  Seconds mean_step() const { return ends.back().time / ends.back().steps; }
};

OverTimePlan over_time_plan(std::vector<PhaseSteps> phases, const TargetData& target,
                            const CampaignSettings& settings);

/// Storage that is paid for from some time on.
struct KeptStorage {
  Ticks from = 0;
  double usd_per_s = 0;
};

/// The conditions of a running campaign: the hour of the day, and the tier of its storage, which grows.
class ConditionState {
 public:
  explicit ConditionState(const OverTimePlan& plan);

  /// Brings the conditions to a time. @return whether they have changed
  bool update(Ticks time, std::size_t phase);
  std::size_t condition() const { return plan_->condition(hour_, tier_); }
  Ticks next_change() const { return next_change_; }
  const std::vector<KeptStorage>& kept() const { return kept_; }

 private:
  void grow(Ticks time, std::size_t phase);

  const OverTimePlan* plan_;
  std::size_t hour_ = 0, tier_ = 0;
  std::optional<Ticks> ready_{};  ///< of the requested tier
  Ticks next_request_ = 0, next_change_ = 0;
  std::vector<KeptStorage> kept_;
};

}  // namespace gradway
