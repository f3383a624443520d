// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/format/json_document.hpp"
#include "sim/report/format/style.hpp"
#include "sim/study/search/optimize.hpp"

namespace gradway::report {

/// A finished search of settings that found at least one.
struct SettingsSearchReport {
  std::string engine;
  ParsedSearch asked;
  SearchResult result;

  const Scenario& written() const { return asked.space.jobs.front(); }
  const Optimum& optimum() const { return *result.optimum; }
  const std::optional<TrainingGoal>& goal() const { return asked.space.goal; }
};

/// The framework whose defaults a search starts from: "PyTorch".
std::string_view framework_of(const SettingsSearchReport& search);

/// A verdict on the gain over the framework's defaults. A gain below 0.5 %, or within the prediction error,
/// is not worth a change.
std::string verdict(const SettingsSearchReport& search);

/// Warnings about the best setting: those of its prediction, and settings that change more than speed.
std::vector<Warning> warnings_of(const SettingsSearchReport& search);

/// Writes for a person: the best settings, their gain and that of each single setting, how flat the optimum
/// is, what was left out, and the code for the framework.
void write_table(std::ostream& out, const SettingsSearchReport& search, const Style& style);

/// The same as one document.
JsonDocument json_document(const SettingsSearchReport& search, std::string_view version);

}  // namespace gradway::report
