// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/format/json_document.hpp"
#include "sim/trust/errors.hpp"

namespace gradway::report {

/// A metric of a run under its name in report.json.
struct PointMetric {
  std::string name;
  std::optional<double> value;  ///< empty if it is unknown or infinite
  bool is_whole = false;        ///< written without a decimal point
};

/// The value as in report.json.
nlohmann::ordered_json value_json(const PointMetric& metric);

/// The part of a point's report that tables, rankings, CSV and pages show.
struct PointResult {
  std::string model{};  ///< empty for a single collective
  std::string platform{};
  std::optional<int> gpus{}, batch_per_gpu{}, accumulate{};
  std::vector<PointMetric> metrics{};
  std::optional<double> step_low{}, step_high{};  ///< 90 % prediction interval of the step time, in seconds
  std::vector<PossibleError> errors{};            ///< of the step time
  std::string does_not_fit{};                     ///< reason; empty if the job fits or may not fit
  bool may_not_fit = false;                       ///< the expected memory does not fit, its lower end does
  std::string bottleneck{};
  std::string provenance{};
  std::vector<std::string> basis{};
  std::vector<std::string> warnings{};       ///< sentences
  std::vector<std::string> warning_codes{};  ///< of each; empty in reports of gradway 0.2

  bool fits() const { return does_not_fit.empty(); }
  /// `fits` as in report.json: unknown if the job may not fit.
  std::optional<bool> fits_for_sure() const { return may_not_fit ? std::nullopt : std::optional{fits()}; }
  /// @return empty if it is unknown or infinite
  std::optional<double> known(std::string_view metric) const;
  /// @return infinity if it is unknown
  double figure(std::string_view metric) const;
};

/// @pre the document is the report of a run
PointResult result_of(const JsonDocument& report);

/// Reads the report of a run from an untrusted text.
/// @return empty if the text is anything else, or lacks a metric that a sweep shows
std::optional<PointResult> read_result(std::string_view text);

}  // namespace gradway::report
