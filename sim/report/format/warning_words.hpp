// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/trust/warning.hpp"

namespace gradway::report {

/// A sentence without a full stop.
std::string describe(const Warning& warning);

/// In their order, as report.json and pages have them.
std::vector<std::string> describe(const std::vector<Warning>& warnings);
std::vector<std::string_view> codes_of(const std::vector<Warning>& warnings);

/// "a sentence [memory-tight]" each, as the terminal has them.
std::vector<std::string> with_codes(const std::vector<Warning>& warnings);

std::vector<Warning> warnings_of(const std::vector<ScenarioWarning>& warnings);

/// What `gradway help CODE` explains. Texts are whole sentences.
struct WarningHelp {
  std::string_view code;
  std::string_view meaning;  ///< one line, without a full stop
  std::string_view when;     ///< it arises
  std::string_view error;    ///< how far the prediction may be off
  std::string_view advice;   ///< what to do
};

/// One row for each alternative of Warning, by code.
std::span<const WarningHelp> warning_help();

}  // namespace gradway::report
