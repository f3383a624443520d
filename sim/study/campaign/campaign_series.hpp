// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/campaign/simulate_campaign.hpp"
#include "sim/study/campaign/campaign_estimate.hpp"

namespace gradway {

/// A time in which a campaign goes on unchanged, or restarts.
struct CampaignSpan {
  double from_s = 0, to_s = 0;
  bool trains = true;
  std::size_t phase = 0, condition = 0;
  double samples_per_s = 0;  ///< including checkpoints and evaluations
  double batch = 0;          ///< samples
  Seconds step{};
  BytesPerSecond storage_read{};
  std::optional<double> usd{};  ///< since the start, at its end; none without a price
};

/// The course of a run. @param run with its interruptions @return empty for rounds of clients
std::vector<CampaignSpan> course_of(const CampaignRun& run, const CampaignPlan& plan, const NodeCosts& costs);

/// Steps to the target, and the 90 % interval that the critical batch leaves.
struct TargetSteps {
  double steps = 0;
  double low = 0, high = 0;
  double least_samples = 0;  ///< with very small batches
  double least_steps = 0;    ///< with very large batches
};

/// @return none without a critical batch
std::optional<TargetSteps> target_steps(const CampaignPlan& plan);

}  // namespace gradway
