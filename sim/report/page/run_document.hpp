// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim/report/run/run_questions.hpp"
#include "sim/run/simulate.hpp"

namespace gradway::report {

/// The keys that every document of report.html starts with.
/// @param scenario its name
/// @param title identifies the page without context, with model and platform
nlohmann::ordered_json start_of(std::string_view kind, std::string_view scenario, std::string_view title,
                                std::string_view version);

/// "vit_l_32 on 8 x l40s on 1 node"
std::string title_of(const Scenario& scenario);

/// Model, hardware and strategy, in the same words as on the terminal.
nlohmann::ordered_json headline(const Run& run);

/// The document of kind `run` (web/DATA.md).
/// @param drawn the same run, with all its micro-batches if they can be drawn
nlohmann::ordered_json run_document(const Run& run, const Run& drawn, std::string_view version,
                                    const RunQuestions& questions);

/// The axes of a layout along which the model can be distributed: `axes` of the document.
std::vector<std::string_view> layout_axes(const Model& model);

/// Writes the report alone, the scenario as `yaml`, and as `axes` those of a layout along which the model can
/// be distributed, for a page that asked for this run. @param yaml the scenario
void write_figures(std::ostream& out, const Run& run, std::string_view version, const RunQuestions& questions,
                   const std::string& yaml);

/// Writes the whole document with the same keys, with all micro-batches if they can be drawn.
/// @param engine that has simulated the run
void write_run_document(std::ostream& out, const Run& run, const std::string& engine,
                        std::string_view version, const RunQuestions& questions, const std::string& yaml);

}  // namespace gradway::report
