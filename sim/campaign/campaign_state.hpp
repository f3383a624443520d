// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/campaign/over_time.hpp"
#include "sim/campaign/simulate_campaign.hpp"

// State of a simulated campaign between its events.

namespace gradway {

/// A campaign is given up when it takes this many times the undisturbed time of its steps, plus a month.
inline constexpr double max_elapsed_factor = 50;

/// A checkpoint that is being written.
struct PendingSave {
  Ticks progress = 0;
  Ticks durable_at = 0;
  Buckets risked{};  ///< time spent on its progress
};

/// A pause at regular intervals of progress.
struct PeriodicPause {
  Ticks every = 0;
  Ticks time = 0;
  Bucket bucket{};
  std::vector<Ticks> due{};  ///< progress of each pause, if the steps between them differ; `every` is then 0
  Ticks done_at = -1;        ///< progress at the last pause

  /// The first progress after this one at which the pause is due.
  Ticks after(Ticks progress) const {
    if (every > 0) return (progress / every + 1) * every;
    const auto next = std::ranges::upper_bound(due, progress);
    return next == due.end() ? never : *next;
  }
  bool is_due(Ticks progress) const {
    return every > 0 ? progress % every == 0 : std::ranges::binary_search(due, progress);
  }
};

/// State right after a checkpoint or pause.
struct CampaignSnapshot {
  Ticks now = 0, progress = 0, saved = 0;
  Ticks next_slow = 0, slow_until = 0;
  int replicas = 0;
  int changes = 0;  ///< of conditions
  std::optional<PendingSave> pending;
  Buckets risked{}, times{};
};

/// Nodes that are missing until a date.
struct AbsentNodes {
  Ticks until = 0;
  int nodes = 0;
  bool is_paid = true;
};

/// Factors on the time of steps, except for stragglers and jitter.
struct SlowDowns {
  double conditions = 1, width = 1, write = 1;
};

/// Divides the time of steps into its causes. @param time taken @param done undisturbed time
std::array<std::pair<Bucket, Ticks>, 5> parts_of_steps(Ticks time, Ticks done, const SlowDowns& slow_downs);

/// The cause at a share of the sum of all counts; null without causes.
const FailureCause* cause_at(std::span<const FailureCause> causes, double share);

/// Price of keeping data on storage up to a time.
double keeping_usd(const std::vector<KeptStorage>& kept, Ticks end);

/// The phases of a running campaign and their conditions. Progress is in undisturbed time of steps.
class CampaignCourse {
 public:
  /// @param plan null: one phase without conditions @param work progress at the end
  CampaignCourse(const OverTimePlan* plan, Ticks work);

  bool has_phases() const { return plan_ != nullptr; }
  /// The progress after every so many steps, without the end.
  std::vector<Ticks> progress_of_steps(double every) const;
  std::size_t phase_of(Ticks progress) const;
  /// The first end of a phase after a progress.
  Ticks end_after(Ticks progress) const;
  /// @return whether the phase or its conditions have changed
  bool update(Ticks time, Ticks progress);
  std::size_t phase() const { return phase_; }
  std::size_t condition() const { return conditions_ ? conditions_->condition() : 0; }
  Ticks next_change() const { return conditions_ ? conditions_->next_change() : never; }
  int changes() const { return changes_; }
  /// Factor on the time of a step.
  double stretch() const { return plan_ != nullptr ? plan_->stretch[phase_][condition()] : 1; }
  /// Tiers of storage over time; empty if it does not grow.
  std::vector<KeptStorage> kept() const;

 private:
  const OverTimePlan* plan_;
  std::vector<Ticks> ends_;
  std::optional<ConditionState> conditions_;
  std::size_t phase_ = 0;
  int changes_ = 0;
};

}  // namespace gradway
