// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/format/json_document.hpp"
#include "sim/report/format/style.hpp"
#include "sim/study/compare/compare.hpp"
#include "sim/study/compare/training.hpp"

namespace gradway::report {

/// A combination without a ranked result, as the user asked for it.
struct LeftOut {
  std::string platform;
  std::string gpus;      ///< "" if it is the number of the scenario
  std::string reason{};  ///< empty: it is ranked
  bool does_not_fit = false;
  std::optional<Training> training{};  ///< set if it was left out because it misses a limit
};

/// The job that is compared, as it ran on one of the platforms.
struct ComparedJob {
  std::string scenario{};
  std::string model{};
  Job job{};              ///< except for the number of GPUs
  SpeedFactors speeds{};  ///< what-if speeds, the same on each platform
};

/// A finished comparison.
struct PlatformComparison : ComparedJob {
  std::optional<TrainingGoal> goal{};   ///< set if a whole training was asked for
  std::vector<Answer> runs{};           ///< cheapest first
  std::vector<JsonDocument> reports{};  ///< one per run
  std::vector<LeftOut> left_out{};
};

/// Whether the runs differ in their class of provenance.
bool is_mixed(const PlatformComparison& compared);

/// Writes a comparison for a person: the cheapest and the fastest run with their figures and the certainty of
/// the ranking; a row per run with as many columns as fit; classes of provenance that differ; the bottlenecks
/// of the best runs; the sources of prices; what was left out.
void write_table(std::ostream& out, const PlatformComparison& compared, const Style& style);

/// One row per combination. Those that were left out follow, with the reason.
void write_csv(std::ostream& out, const PlatformComparison& compared);

/// One document: under `runs` each report with its costs, then what was left out.
JsonDocument json_document(const PlatformComparison& compared, std::string_view version);

}  // namespace gradway::report
