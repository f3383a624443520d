// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/run/simulate.hpp"
#include "sim/study/campaign/campaign_points.hpp"
#include "sim/study/compare/sweep.hpp"
#include "sim/study/compare/varied_scenario.hpp"

namespace gradway {

/// The scenario of a campaign, and how its step is simulated.
struct CampaignRequest {
  std::string scenario{};
  std::string engine = "auto";
  PriceChoice price{};
  std::string failures{};  ///< a model of failures; empty: those of the scenario
};

/// Loads the scenario, with failures and checkpoints as a plan has them if the request names failures.
/// @throws ConfigError if there is no campaign, or if it already has failures
Scenario load_campaign(const CampaignRequest& request, std::vector<Override> overrides, const DataPath& data);

/// Simulates the step of a campaign. @throws ConfigError if there is no campaign, or if it takes too long
Run step_of_campaign(const CampaignRequest& request, const std::vector<Override>& overrides,
                     const DataPath& data, const ProgressCallback& on_progress);

/// Groups points that differ in keys of `campaign` only, so that they have the same step.
std::vector<std::vector<std::size_t>> by_step(const CampaignPoints& campaigns);

/// Simulates campaigns that have the same step.
class CampaignsOfStep {
 public:
  /// @param finds_layout use the fastest layout of the step
  /// @param global_batch for the layout; none: the scenario's
  CampaignsOfStep(const CampaignRequest& request, const CampaignQuestions& questions,
                  const VariedScenario& varied, bool finds_layout, const std::optional<int>& global_batch)
      : request_{request},
        questions_{questions},
        varied_{varied},
        finds_layout_{finds_layout},
        global_batch_{global_batch} {}

  /// Simulates the campaign of a point, and adds its result to the point.
  CampaignAnswers simulate_point(CampaignPoint& point);
  /// The run of the step, with the campaign of the last point. @pre a point was simulated
  const Run& run() const { return *run_; }

 private:
  Run step_in_fastest_layout(const std::vector<Override>& overrides) const;

  const CampaignRequest& request_;
  const CampaignQuestions& questions_;
  const VariedScenario& varied_;
  bool finds_layout_;
  const std::optional<int>& global_batch_;
  std::optional<Run> run_{};
};

}  // namespace gradway
