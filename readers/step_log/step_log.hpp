// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.hpp"

namespace gradway {

/// A training step in a log.
struct LoggedStep {
  std::int64_t number = 0;  ///< As written, else counted from 1.
  Seconds time{};
  std::string moment;            ///< Date and time as written; may be empty.
  bool is_unit_assumed = false;  ///< Neither the log nor the options name the unit of the time.
};

/// What a step has, by which rates become times.
struct StepAmounts {
  double samples = 0;
  double tokens = 0;
  int gpus = 1;
};

/// Settings of the user for logs of step times.
struct StepLogOptions {
  std::optional<std::string> key{};      ///< Name of the value in each line.
  std::optional<Seconds> unit{};         ///< Of numbers without one.
  bool assumes_seconds = false;          ///< Else an unknown unit is an error.
  std::optional<double> batch{};         ///< Samples or tokens of a step, for logs that have rates.
  std::optional<StepAmounts> amounts{};  ///< The same, if the job is known.
  std::size_t fewest = 20;               ///< Steps that are needed.
  std::vector<std::string> rows{};       ///< Formats of the user, as in step_log.txt.
};

/// Reads step times: JSON objects, Prometheus text, CSV with a header, numbers, or lines of text in one of
/// the formats of step_log.txt ("elapsed time per iteration (ms): 152.3", "2.31s/it"). Rates and times since
/// the start become step times. Lines without a step time are skipped. Units follow from the name of the
/// value
/// ("step_time_s"), from the text, from the format or from the options. Of several ranks and formats in one
/// log, one is kept; times that are not numbers, and a last line that is still being written, are skipped.
/// @param file for messages
/// @throws ConfigError if a step time is not positive, if its unit is unknown, if rates need the batch, or if
/// fewer than 20 steps are found
std::vector<LoggedStep> read_step_log(std::istream& lines, const std::string& file,
                                      const StepLogOptions& options);

}  // namespace gradway
