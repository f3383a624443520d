// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "sim/campaign/simulate_campaign.hpp"
#include "sim/trust/step_ratio.hpp"

namespace gradway {

/// Shares of the time of a campaign, by the names under which they are published; see `share_words`.
struct TimeShares {
  double goodput = 0;
  double effective = 0;
  double ettr = 0;
};
TimeShares time_shares(const CampaignRun& run);

/// What many runs of a campaign have in common. An `Expected` is the median, and the ends between which nine
/// of ten runs lie.
struct CampaignEstimate {
  int runs = 0;
  int unfinished = 0;  ///< that were given up
  Expected seconds;
  std::optional<Expected> usd{};  ///< none without a price
  std::optional<Expected> kg_co2{};
  Expected goodput, effective, ettr;
  Expected interruptions;  ///< failures, and losses of spot nodes
  double mean_s = 0;
  std::optional<double> mean_usd{};
  double mean_checkpoints = 0;
  double mean_storage_usd = 0;  ///< for checkpoints
  double mean_exchanges = 0;    ///< between workers; of clients: rounds that counted
  double mean_void_rounds = 0;
  double mean_asked = 0;    ///< clients, in all rounds
  double mean_updates = 0;  ///< of them that counted
  double mean_sent_bytes = 0;
  double ideal_s = 0;                           ///< all steps, as predicted and alone
  std::array<double, bucket_count> bucket_s{};  ///< means: they add up to `mean_s`
  std::vector<double> seconds_by_seed{}, usd_by_seed{};
};

/// What an hour of a campaign's nodes costs and emits.
struct NodeRates {
  std::optional<UsdPerHour> usd{};       ///< of nodes that nobody takes away
  std::optional<UsdPerHour> spot_usd{};  ///< of spot nodes
  std::optional<CarbonSettings> carbon{};

  /// What a run costs. @pre usd
  double usd_of(const CampaignRun& run) const;
  /// What so many node-seconds emit. @pre carbon
  double kg_co2(double node_seconds) const;
};

/// Plays seeds 0, 1, 2, ...; the same whatever the number of threads.
std::vector<CampaignRun> simulate_seeds(const CampaignPlan& plan, Seconds interval, int seeds, int threads);

/// @pre some runs
CampaignEstimate estimate_of(const std::vector<CampaignRun>& runs, const CampaignPlan& plan,
                             const NodeRates& rates);

}  // namespace gradway
