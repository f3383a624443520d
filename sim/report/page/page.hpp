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

/// Was gradway built with the page? Else there is no report.html to write.
bool has_page();

// Each writes report.html: one file with all it needs, which opens without a network. What the page is given
// stands in web/DATA.md; it computes nothing. @pre has_page(). @param version of gradway

void write_page(std::ostream& out, const Run& run, std::string_view version,
                const RunQuestions& questions = {});
void write_page(std::ostream& out, const Campaign& campaign, std::string_view version);
void write_page(std::ostream& out, const CampaignPoints& points, std::string_view version);
void write_page(std::ostream& out, const Sweep& sweep, std::string_view version);
void write_page(std::ostream& out, const Compared& compared, std::string_view version);
/// @param command that runs the scenario as it was explained
void write_page(std::ostream& out, const Explanation& explanation, std::string_view command,
                std::string_view version);
void write_page(std::ostream& out, const Optimized& found, std::string_view version);
void write_page(std::ostream& out, const LaidOut& laid_out, std::string_view version);
/// @param title what was validated
void write_page(std::ostream& out, const Validation& validation, std::string_view title,
                std::string_view version);

}  // namespace gradway::report
