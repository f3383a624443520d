// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "sim/report/campaign/campaign.hpp"
#include "sim/report/campaign/campaign_points.hpp"
#include "sim/report/points/compare.hpp"
#include "sim/report/points/sweep.hpp"
#include "sim/report/run/explain.hpp"
#include "sim/report/run/run_questions.hpp"
#include "sim/report/run/validation.hpp"
#include "sim/report/search/layouts.hpp"
#include "sim/report/search/optimize.hpp"
#include "sim/run/simulate.hpp"

namespace gradway::report {

/// Whether gradway was built with the page. Otherwise it cannot write report.html.
bool has_page();

// Each function writes report.html: a self-contained file that opens without a network. The page computes
// nothing; web/DATA.md describes its data. @pre has_page(). @param version of gradway

void write_page(std::ostream& out, const Run& run, std::string_view version,
                const RunQuestions& questions = {});
void write_page(std::ostream& out, const Campaign& campaign, std::string_view version);
void write_page(std::ostream& out, const CampaignPoints& points, std::string_view version);
void write_page(std::ostream& out, const Sweep& sweep, std::string_view version);
void write_page(std::ostream& out, const PlatformComparison& compared, std::string_view version);
/// @param command that runs the explained scenario
void write_page(std::ostream& out, const Explanation& explanation, const RunCommand& command,
                std::string_view version);
void write_page(std::ostream& out, const SettingsSearchReport& found, std::string_view version);
void write_page(std::ostream& out, const LayoutSearchReport& search_report, std::string_view version);
/// @param title what was validated
void write_page(std::ostream& out, const Validation& validation, std::string_view title,
                std::string_view version);

}  // namespace gradway::report
