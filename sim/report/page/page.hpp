// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/report/campaign/campaign.hpp"
#include "sim/report/campaign/campaign_points.hpp"
#include "sim/report/points/compare.hpp"
#include "sim/report/points/sweep.hpp"
#include "sim/report/run/explain.hpp"
#include "sim/report/run/run_questions.hpp"
#include "sim/report/run/validation.hpp"
#include "sim/report/search/layouts.hpp"
#include "sim/report/search/optimize.hpp"
#include "sim/report/show/lists.hpp"
#include "sim/run/simulate.hpp"

namespace gradway::report {

/// Whether gradway was built with the page. Otherwise it cannot write report.html.
bool has_page();

/// Whether gradway was built with gradway.wasm, which a page needs to simulate other settings.
bool has_engine();

/// What a page needs to simulate its scenario with other settings.
struct WhatIfFiles {
  std::string scenario;                                  ///< its name among the files
  std::vector<std::pair<std::string, std::string>> set;  ///< overrides of the run
  std::vector<std::string> roots;            ///< data folders among the files that precede the installed data
  std::string command;                       ///< that runs the scenario, without its overrides
  std::string yaml;                          ///< the scenario with the overrides
  std::map<std::string, std::string> files;  ///< texts by name; those of the installed data start with '/'
};

/// The page of the planner, in which everything else is chosen.
struct PlanPage {
  /// By the keys of web/DATA.md; empty: not chosen.
  std::vector<std::pair<std::string, std::string>> choices;
  std::vector<std::pair<std::string, int>> models{};  ///< names; tokens per sample, 0: not texts
  std::vector<ListedPlatform> platforms{};
  std::vector<std::string> roots{};            ///< as in WhatIfFiles
  std::map<std::string, std::string> files{};  ///< the same
};

/// The document of this page alone.
void write_plan_document(std::ostream& out, const PlanPage& plan, std::string_view version);

/// What the pages of `gradway ui` begin with.
struct UiStart {
  std::string scenario;                ///< that is shown at once; "": the list
  std::string command;                 ///< that starts the server again
  std::vector<std::string> scenarios;  ///< names of the data folders
  std::vector<std::string> own;        ///< files of the working folder
  std::vector<std::string> platforms;  ///< names of the data folders
};

/// Writes a page that asks the server that it comes from. @pre has_page()
void write_served_page(std::ostream& out, const UiStart& start, std::string_view version);
/// The value of its header Content-Security-Policy. @pre has_page()
std::string policy_of_served_page();

// Each function writes report.html: a self-contained file that opens without a network. The page computes
// nothing; web/DATA.md describes its data. @pre has_page(). @param version of gradway

/// @param drawn the same run, with all its micro-batches if they can be drawn
/// @param what_if the page can then simulate other settings; null: it only shows the run. @pre has_engine()
void write_page(std::ostream& out, const Run& run, const Run& drawn, std::string_view version,
                const RunQuestions& questions = {}, const WhatIfFiles* what_if = nullptr);
void write_page(std::ostream& out, const Campaign& campaign, std::string_view version);
void write_page(std::ostream& out, const CampaignPoints& points, const std::vector<JsonDocument>& reports,
                std::string_view version);
void write_page(std::ostream& out, const Sweep& sweep, std::string_view version);
/// Writes the data of that page, with the sweep as CSV in `csv`.
void write_sweep_document(std::ostream& out, const Sweep& sweep, std::string_view version);
void write_page(std::ostream& out, const PlatformComparison& compared, std::string_view version);
/// @param command that runs the explained scenario
void write_page(std::ostream& out, const Explanation& explanation, const RunCommand& command,
                std::string_view version);
void write_page(std::ostream& out, const SettingsSearchReport& search, std::string_view version);
void write_page(std::ostream& out, const LayoutSearchReport& search_report, std::string_view version);
/// @pre has_engine()
void write_page(std::ostream& out, const PlanPage& plan, std::string_view version);
/// @param title what was validated
void write_page(std::ostream& out, const Validation& validation, std::string_view title,
                std::string_view version);

}  // namespace gradway::report
