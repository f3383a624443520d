// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/study/ask/ask.hpp"
#include "sim/study/campaign/campaign.hpp"
#include "sim/study/compare/sweep.hpp"
#include "sim/study/search/training_plan.hpp"

namespace gradway {

/// A campaign with some keys changed: its result or error.
struct CampaignPoint {
  std::vector<std::string> values;  ///< one per axis
  std::optional<CampaignEstimate> estimate{};
  Answer step{};
  std::optional<double> in_time{}, in_budget{};
  std::optional<double> late_s{}, over_usd{};  ///< excess over the limits; negative if they are met
  /// Keys that a search chose in addition to the axes, as `--set` takes them.
  std::vector<std::pair<std::string, std::string>> set{};
  std::optional<Job> job{};  ///< with its layout, if layouts were searched
  std::string error{};       ///< empty if there is an estimate

  /// Largest relative excess over the limits; at most 0 if all limits are met.
  double misses(const CampaignQuestions& questions) const;
};

/// Campaigns to compare, in the order of the cross product or best first.
struct CampaignPoints {
  std::string scenario;
  std::vector<Axis> axes;
  CampaignQuestions questions{};
  std::vector<CampaignPoint> points{};
  bool is_ranked = false;
  std::vector<std::string> notes{};  ///< below the table

  /// Leaders by median time and by median cost. Both the spread of the runs and the error of the step time
  /// count; the duration of a campaign is proportional to its step time.
  Leaders fastest() const;
  Leaders cheapest() const;
  /// The cheapest (without prices: the fastest) point that meets all limits; empty if no point does.
  std::optional<std::size_t> best() const;
};

/// A plan whose campaigns are to be simulated: a point for each cluster, without results.
CampaignPoints points_of(const TrainingPlan& plan, const std::vector<Cluster>& clusters,
                         const CampaignQuestions& questions);

/// Simulates the campaign of a plan on a cluster, which has a layout. @throws ConfigError if the plan has no
/// amount of data
Run simulate_on(CampaignPoint& point, const TrainingPlan& plan, const Cluster& cluster,
                const CampaignQuestions& questions, const DataPath& data);

/// Adds the result of a campaign. @param run of its step
void add_answers(CampaignPoint& point, const Run& run, const CampaignAnswers& answers);

/// Sorts points: best first, then points that exceed a limit by their excess, then points that failed.
void rank(CampaignPoints& points);

}  // namespace gradway
