// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/base/provenance_fact.hpp"
#include "sim/base/warning.hpp"

namespace gradway::report {

/// "launches: 20 us of CPU time an operation, as measured for the calibration h200-4x"
std::string describe(const ProvenanceFact& fact);

/// All of them, as report.json and pages have them.
std::vector<std::string> describe(const std::vector<ProvenanceFact>& facts);

/// For the terminal: without citations and remarks, equal statements about several things once, and without
/// the source of the platform, which decides nothing.
std::vector<std::string> provenance_in_short(const std::vector<ProvenanceFact>& facts);

/// Sentences without full stops, in their order, as report.json and pages have them.
std::vector<std::string> describe(const std::vector<Warning>& warnings);
std::vector<std::string_view> codes_of(const std::vector<Warning>& warnings);

/// "a sentence [memory-tight]" each, as the terminal has them.
std::vector<std::string> with_codes(const std::vector<Warning>& warnings);

/// Whether it says that times of communication are extrapolated from other measurements.
bool is_extrapolation(const Warning& warning);

}  // namespace gradway::report
