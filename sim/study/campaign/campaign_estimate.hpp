// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "sim/campaign/plan.hpp"
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

/// The time between two checkpoints, and the goodput that it gives.
struct IntervalChoice {
  struct Point {
    Seconds interval{};
    double goodput = 0;  ///< mean
  };
  Seconds used{};
  Seconds best{};
  std::optional<Seconds> young{}, daly{};  ///< none if nothing interrupts
  Seconds shortest{};                      ///< one step, or the time until a checkpoint is on storage
  double goodput_used = 0, goodput_best = 0;
  std::optional<double>
      goodput_daly{};          ///< Daly's equation 20 at the used interval: failures and pauses only
  std::vector<Point> curve{};  ///< in order of intervals
};

/// Simulates the campaign with intervals around Daly's, fits a/t + bt + c to the mean times, and takes the
/// minimum: the cost of saving falls with the interval t, and the lost work grows with it.
IntervalChoice choose_interval(const CampaignPlan& plan, int seeds, int threads);

/// Daly's interval, clamped to possible values. The whole training if nothing interrupts or pauses cost
/// nothing.
Seconds clamped_daly_interval(const CampaignPlan& plan);

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
