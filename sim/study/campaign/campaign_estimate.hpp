// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "sim/campaign/simulate_campaign.hpp"
#include "sim/trust/step_ratio.hpp"

namespace gradway {

/// Shares of a campaign's time, by the names that publications use; see `share_words`.
struct TimeShares {
  double goodput = 0;
  double effective = 0;
  double ettr = 0;
};
TimeShares time_shares(const CampaignRun& run);

/// Statistics over many runs of a campaign. An `Expected` is the median with its 90 % interval.
struct CampaignEstimate {
  int runs = 0;
  int unfinished = 0;  ///< runs that were given up
  Expected seconds;
  std::optional<Expected> usd{};  ///< none without a price
  std::optional<Expected> kg_co2{};
  Expected goodput, effective, ettr;
  Expected interruptions;  ///< failures and losses of spot nodes
  double mean_s = 0;
  std::optional<double> mean_usd{};
  double mean_checkpoints = 0;
  double mean_storage_usd = 0;  ///< for checkpoints
  double mean_data_usd = 0;     ///< for keeping and reading the samples
  double mean_exchanges = 0;    ///< between workers; with clients: rounds that succeeded
  double mean_void_rounds = 0;
  double mean_asked = 0;    ///< clients that were asked, over all rounds
  double mean_updates = 0;  ///< of clients, that were used
  double mean_sent_bytes = 0;
  double ideal_s = 0;                           ///< all steps at the predicted time, without interruptions
  std::array<double, bucket_count> bucket_s{};  ///< means; their sum is `mean_s`
  std::vector<double> seconds_by_seed{}, usd_by_seed{};
};

/// Costs and emissions of a campaign's nodes.
struct NodeCosts {
  std::optional<UsdPerHour> usd{};       ///< of on-demand or reserved nodes
  std::optional<UsdPerHour> spot_usd{};  ///< of spot nodes
  std::optional<CarbonSettings> carbon{};

  /// Cost of a run. @pre usd
  double usd_of(const CampaignRun& run) const;
  /// Emissions of a number of node-seconds. @pre carbon
  double kg_co2(double node_seconds) const;
};

/// Simulates the campaign with seeds 0, 1, 2, ... The result does not depend on the number of threads.
std::vector<CampaignRun> simulate_seeds(const CampaignPlan& plan, Seconds interval, int seeds, int threads);

/// @pre at least one run
CampaignEstimate estimate_of(const std::vector<CampaignRun>& runs, const CampaignPlan& plan,
                             const NodeCosts& rates);

}  // namespace gradway
