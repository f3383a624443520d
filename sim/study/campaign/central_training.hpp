// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/run/simulate.hpp"
#include "sim/study/campaign/campaign_estimate.hpp"

namespace gradway {

/// The other way: all data go to one place, and train there.
struct CentralTraining {
  Bytes data{};
  Seconds transfer_time{};  ///< all ways at once, into a site as fast as each is
  double transfer_usd = 0;
  Seconds training{};  ///< of all steps by the GPUs of one worker, nothing interrupting
  std::optional<double> training_usd{};
  Seconds best_training_time{};  ///< if as many GPUs as of all workers stood there, and lost nothing to each other
  Bytes exchanged{};  ///< what the campaign sends instead, on average
};

/// @param plan of the campaign @param estimate of it @param node what an hour of a node costs in that place
/// @return none if it is not told how much data lie where they are
std::optional<CentralTraining> central_training(const Run& run, const CampaignPlan& plan,
                                    const CampaignEstimate& estimate, const std::optional<UsdPerHour>& node);

}  // namespace gradway
