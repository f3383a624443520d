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

/// A combination that gave nothing, as it was asked for.
struct LeftOut {
  std::string platform;
  std::string gpus;  ///< "" if the scenario's number
  std::string reason;
  bool does_not_fit = false;
  std::optional<Training> training{};  ///< that misses a limit, if that is the reason
};

/// A finished comparison.
struct Compared {
  std::string scenario;
  std::optional<TrainingGoal> goal;  ///< of the whole training, if it was asked for
  std::string model;
  Job job;                            ///< but for the number of GPUs
  SpeedFactors speeds;                ///< what-if, on each platform
  std::vector<Alternative> runs;      ///< the cheapest first
  std::vector<JsonDocument> reports;  ///< of each of `runs`
  std::vector<LeftOut> left_out;
};

/// Do they rest on evidence of different kinds?
bool is_mixed(const Compared& compared);

/// For a person: first the cheapest and the fastest, with their figures and how sure that is; then a row a
/// run, with as many columns as there is room for; what rests on less than the others, what bounds those two,
/// where prices come from, and what was left out.
void write_table(std::ostream& out, const Compared& compared, const Style& style);

/// One row a combination, those that were left out behind, with the reason.
void write_csv(std::ostream& out, const Compared& compared);

/// One document: under `runs` each report with its costs, and what was left out.
JsonDocument json_document(const Compared& compared, std::string_view version);
void write_json(std::ostream& out, const Compared& compared, std::string_view version);

}  // namespace gradway::report
