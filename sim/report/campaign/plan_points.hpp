// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/config/config.hpp"
#include "sim/report/campaign/campaign_points.hpp"
#include "sim/study/search/training_plan.hpp"

namespace gradway::report {

/// A plan whose campaigns are to be simulated: a point for each cluster, without results.
CampaignPoints points_of(const TrainingPlan& plan, const std::vector<Cluster>& clusters,
                         const CampaignQuestions& questions);

/// The keys of a layout that was chosen, for `Cluster::layout`.
std::vector<Override> layout_keys(const Scenario& chosen);

/// Simulates the campaign on a cluster, which has a layout. @throws ConfigError if the plan has no amount of
/// data
void simulate_on(CampaignPoint& point, const TrainingPlan& plan, const Cluster& cluster,
                 const CampaignQuestions& questions, const DataPath& data);

}  // namespace gradway::report
