// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/campaign/over_time.hpp"

namespace gradway {

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
