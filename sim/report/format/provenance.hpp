// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace gradway::report {

/// What a prediction rests on, for the terminal: the first clause of each line, without sources and remarks;
/// lines that say the same of several things once; without the source of the platform, which decides nothing.
/// All of it is in report.json, and in the page.
std::vector<std::string> provenance_in_short(const std::vector<std::string>& basis);

}  // namespace gradway::report
