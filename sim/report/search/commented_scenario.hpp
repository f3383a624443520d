// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>

#include "sim/study/search/first_scenario.hpp"

namespace gradway::report {

/// Writes a scenario with the help of each key (as in `gradway list keys`) and further useful keys as
/// comments.
/// @param file path of the scenario; empty if unknown
void write_commented_scenario(std::ostream& out, const FirstScenario& scenario, const std::string& file);

}  // namespace gradway::report
