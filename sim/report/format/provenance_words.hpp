// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/base/provenance_fact.hpp"

namespace gradway::report {

/// "launches: 20 us of CPU time an operation, as measured for the calibration h200-4x"
std::string describe(const ProvenanceFact& fact);

/// All of them, as report.json and pages have them.
std::vector<std::string> describe(const std::vector<ProvenanceFact>& facts);

/// For the terminal: without citations and remarks, equal statements about several things once, and without
/// the source of the platform, which decides nothing.
std::vector<std::string> provenance_in_short(const std::vector<ProvenanceFact>& facts);

}  // namespace gradway::report
