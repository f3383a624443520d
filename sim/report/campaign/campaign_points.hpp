// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/report/format/json_document.hpp"
#include "sim/report/format/style.hpp"
#include "sim/study/campaign/campaign.hpp"
#include "sim/study/compare/leaders.hpp"
#include "sim/study/compare/sweep.hpp"

namespace gradway::report {

/// What came of a campaign with some keys changed, or why nothing did.
struct CampaignPoint {
  std::vector<std::string> values;  ///< one an axis
  std::optional<CampaignEstimate> estimate{};
  Seconds step{};  ///< as predicted, with the errors that it may have
  std::vector<PossibleError> errors{};
  std::optional<double> in_time{}, in_budget{};
  std::optional<double> late_s{}, over_usd{};  ///< above the limits; below zero: there is room
  /// Keys beside those of the axes that were chosen for it, as `--set` takes them.
  std::vector<std::pair<std::string, std::string>> set{};
  std::string layout{};   ///< in words, if it was searched
  JsonDocument report{};  ///< of the campaign; null: figures alone
  std::string error{};    ///< empty if there is an estimate

  /// How far it is beyond its limits, as shares of them, the worse one; 0 or below: it keeps both.
  double misses(const CampaignQuestions& questions) const;
};

/// Campaigns side by side, in the order of the cross product or the best first.
struct CampaignPoints {
  std::string scenario;
  std::vector<Axis> axes;
  CampaignQuestions questions{};
  std::vector<CampaignPoint> points{};
  bool is_ranked = false;

  /// By the median time, and by the median cost. What luck does and what the step may be off by both count; a
  /// campaign takes as many times longer as its steps.
  Leaders fastest() const;
  Leaders cheapest() const;
  /// Of those that keep all limits the cheapest, or without prices the fastest; none if none does.
  std::optional<std::size_t> best() const;
};

/// Adds the layout of a scenario: in words, and the keys that give it.
void tell_layout(CampaignPoint& point, const Scenario& scenario);

/// The best first, then those that miss a limit, who misses least first, then those that cannot be.
void rank(CampaignPoints& points);

/// A row a point; the fastest, the cheapest and the best marked, and who misses which limit by how much.
/// @param command what plays the scenario once more: "gradway campaign x"; empty: it is not told
void write_table(std::ostream& out, const CampaignPoints& points, const Style& style,
                 std::string_view command = {});

/// One document: the axes, and under `runs` each point's settings with its report or its error.
JsonDocument json_document(const CampaignPoints& points, std::string_view version);
void write_json(std::ostream& out, const CampaignPoints& points, std::string_view version);

}  // namespace gradway::report
