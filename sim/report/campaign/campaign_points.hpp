// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string_view>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/report/format/json_document.hpp"
#include "sim/report/format/style.hpp"
#include "sim/study/campaign/campaign_points.hpp"

namespace gradway::report {

/// Adds the layout of a scenario, in words and as keys.
void add_layout(CampaignPoint& point, const Scenario& scenario);

/// The keys of a layout that was chosen, for `Cluster::layout`.
std::vector<Override> layout_keys(const Scenario& chosen);

/// One row per point. Marks the fastest, the cheapest and the best, and shows by how much limits are
/// exceeded. Ranked points that failed are listed by reason.
/// @param command that simulates the scenario, such as "gradway campaign x"; empty: not shown
void write_table(std::ostream& out, const CampaignPoints& points, const Style& style,
                 std::string_view command = {});

/// One document: the axes, and under `runs` each point's settings with its report or its error.
/// @param reports of the points; empty if only figures are asked for
JsonDocument json_document(const CampaignPoints& points, const std::vector<JsonDocument>& reports,
                           std::string_view version);

}  // namespace gradway::report
