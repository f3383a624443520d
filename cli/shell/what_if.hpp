// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/report/page/page.hpp"

namespace gradway::cli {

/// What report.html needs to simulate a scenario with other settings: the installed data, and the files that
/// were read for the run. Names contain no folder above these files.
/// @param scenario as given on the command line
/// @param data whose cache has read the scenario
report::WhatIfFiles what_if_files(const std::string& scenario, const std::vector<Override>& overrides,
                                  const DataPath& data);

/// Adds what the planner's page needs: all data folders, and the texts that replace files in them.
void add_plan_files(report::PlanPage& page, const DataPath& data);

/// @throws ConfigError if gradway was built without pages
void check_has_engine();

}  // namespace gradway::cli
