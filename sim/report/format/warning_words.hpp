// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/base/warning.hpp"

namespace gradway::report {

/// Sentences without full stops, in their order, as report.json and pages have them.
std::vector<std::string> describe(const std::vector<Warning>& warnings);
std::vector<std::string_view> codes_of(const std::vector<Warning>& warnings);

/// "a sentence [memory-tight]" each, as the terminal has them.
std::vector<std::string> with_codes(const std::vector<Warning>& warnings);

/// Whether it says that times of communication are extrapolated from other measurements.
bool is_extrapolation(const Warning& warning);

}  // namespace gradway::report
