// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>

#include "sim/base/progress.hpp"
#include "sim/config/config.hpp"
#include "sim/report/format/style.hpp"

namespace gradway {
class TimelineCache;
}

namespace gradway::cli {

/// Streams, data folders and style that a command runs with. Only this folder reads the environment and the
/// terminal.
struct CommandContext {
  std::ostream& results;   ///< written to standard output when the command has ended
  std::ostream& messages;  ///< standard error
  report::Style style;
  std::size_t progress_columns = 0;  ///< width of a progress line on standard error; 0: none is shown
  DataPath data;
  TimelineCache* timelines = nullptr;  ///< of earlier commands of this process; null: none
  ProgressCallback on_progress{};      ///< gets the progress of long work instead of a terminal; may be empty
};

/// Style of standard output: plain and 80 columns wide unless it is a terminal. Respects NO_COLOR.
report::Style style_of_output();

/// Writes a warning on a line of its own.
void warn(const CommandContext& context, std::string_view text);

/// Columns of the terminal on standard error. 0 if it is not a terminal, or cannot erase a line.
std::size_t progress_columns();

/// The folders of GRADWAY_PATH, then the installed data: the nearest platforms/ or share/gradway/platforms in
/// the folders above the program. Warns of folders that do not exist.
DataPath data_path(std::ostream& messages);

/// Removes the variables of ns-3 (NS_LOG, NS_GLOBAL_VALUE ...) from the environment. SimGrid loads that
/// library, which reads them when it is loaded, and prints or aborts.
void remove_foreign_variables();

}  // namespace gradway::cli
