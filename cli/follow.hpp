// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/shell/command_context.hpp"
#include "cli/shell/failure.hpp"
#include "observe/watch/watch.hpp"
#include "readers/step_log/step_log.hpp"

namespace gradway::cli {

/// A log that grows while it is watched.
struct FollowedLog {
  std::string file;
  std::function<std::vector<LoggedStep>()> read;  ///< all its steps; throws ConfigError while they are few
  std::function<WatchedRun(const std::vector<LoggedStep>&)> watch;
  std::string alert;            ///< command of the shell that gets each finding as its input; "": none
  std::string metrics;          ///< file in Prometheus' format to write after each reading; "": none
  std::optional<Seconds> idle;  ///< ends when no line has come for so long
  std::optional<double> most_lost;
};

/// Writes the steps and the prediction to a file that Prometheus' node exporter collects.
void write_metrics_file(const FollowedLog& log, const std::vector<LoggedStep>& steps, const WatchedRun& run);

/// Reads the log again whenever it has grown, and prints each new finding once. Says so if no line comes
/// for ten median steps and a minute. Ends with the program, or after `idle`.
Status follow_log(const FollowedLog& log, const CommandContext& context);

}  // namespace gradway::cli
