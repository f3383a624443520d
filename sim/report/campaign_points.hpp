// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/text/style.hpp"
#include "sim/study/campaign.hpp"
#include "sim/study/sweep.hpp"

namespace gradway::report {

/// What came of a campaign with some keys changed, or why nothing did.
struct CampaignPoint {
  std::vector<std::string> values;  ///< one an axis
  std::optional<CampaignEstimate> estimate{};
  std::optional<double> in_time{}, in_budget{};
  std::string report{};  ///< the document of `write_json`
  std::string error{};   ///< empty if there is an estimate
};

/// Campaigns side by side, in the order of the cross product.
struct CampaignPoints {
  std::string scenario;
  std::vector<Axis> axes;
  std::vector<CampaignPoint> points;

  /// Of the least median time, and of the least median cost. None if there is no such figure.
  std::optional<std::size_t> fastest() const;
  std::optional<std::size_t> cheapest() const;
};

/// A row a point; the fastest and the cheapest marked.
void write_table(std::ostream& out, const CampaignPoints& points, const Style& style);

/// One document: the axes, and under `runs` each point's settings with its report or its error.
void write_json(std::ostream& out, const CampaignPoints& points, std::string_view version);

}  // namespace gradway::report
