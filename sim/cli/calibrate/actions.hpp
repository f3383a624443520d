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

/// Arguments of 'gradway calibrate'; empty if not given.
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

// The actions, each in the file of its name.
Status fit_samples(const CalibrateArguments& arguments, const CommandContext& context);
Status adapt_calibration(const CalibrateArguments& arguments, const CommandContext& context);
Status check_samples(const CalibrateArguments& arguments, const CommandContext& context);

/// Reads files of samples, and prints the probe's remarks and unused rows to messages.
/// @throws ConfigError with the errors of all files
Samples read_samples_with_remarks(const std::vector<std::string>& files, const CommandContext& context);

/// @throws ConfigError if the value of '--date' is not a date
void check_date(const std::string& date);

/// Writes a calibration to the file of --out and prints it.
/// @param input that it was made from, for messages
void write_made(const CalibrateArguments& arguments, Calibration calibration, const std::string& input,
                const CommandContext& context);

/// Source and date of the samples: those of the options, else those that the samples contain.
/// @param made_by begins the source if neither has one, before the names of the files
CalibrationTitle title_of(const CalibrateArguments& arguments, const Samples& samples,
                          std::string_view made_by);

/// Facts of the node from its platform; empty without a platform.
NodeFacts facts_of(const std::string& platform, const Samples& samples, const CommandContext& context);

}  // namespace gradway::cli
