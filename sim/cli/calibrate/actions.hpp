// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/cli/shell/command_context.hpp"
#include "sim/cli/shell/status.hpp"
#include "sim/fit/fit.hpp"
#include "sim/fit/node_facts.hpp"

namespace gradway::cli {

/// What can be told 'gradway calibrate'.
struct CalibrateArguments {
  std::string action;
  std::vector<std::string> files;
  std::string out;
  std::string source;
  std::string date;
  std::string platform;
  bool force = false;
  bool all = false;
  bool json = false;
};

// The actions, each in a file of its name.
Status fit_samples(const CalibrateArguments& arguments, const CommandContext& context);
Status adapt_calibration(const CalibrateArguments& arguments, const CommandContext& context);
Status check_samples(const CalibrateArguments& arguments, const CommandContext& context);

/// Reads files of samples, and says on messages what the probe remarked and what is of no use.
/// @throws ConfigError with what is wrong with any of them
Samples read_samples_aloud(const std::vector<std::string>& files, const CommandContext& context);

/// @throws ConfigError if the day of '--date' is none
void check_date(const std::string& date);

/// Writes a calibration that gradway made as --out says, and prints it.
/// @param input what it was made of, for messages
void write_made(const CalibrateArguments& arguments, Calibration calibration, const std::string& input,
                const CommandContext& context);

/// What the user said of the samples; else what they say of themselves. @param made_by stands for them if
/// they say nothing
CalibrationTitle title_of(const CalibrateArguments& arguments, const Samples& samples,
                          std::string_view made_by);

/// What the platform tells of the node; nothing without one.
NodeFacts facts_of(const std::string& platform, const Samples& samples, const CommandContext& context);

}  // namespace gradway::cli
