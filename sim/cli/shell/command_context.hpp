// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>

#include "sim/config/config.hpp"
#include "sim/report/format/style.hpp"

namespace gradway::cli {

/// What a command may know of the world around it. Only this folder asks the environment and the terminal.
struct CommandContext {
  std::ostream& results;   ///< reaches standard output when the command has ended
  std::ostream& messages;  ///< standard error
  report::Style style;
  std::size_t progress_columns = 0;  ///< room for a line of progress on standard error; 0: show none
  DataPath data;
};

/// Colours and width of standard output: plain and 80 columns wide unless it is a terminal; NO_COLOR is
/// respected.
report::Style style_of_output();

/// Writes a warning on a line of its own.
void warn(const CommandContext& context, std::string_view text);

/// The columns of the terminal that standard error is; 0 if it is none, or one that cannot take a line back.
std::size_t progress_columns();

/// The folders of GRADWAY_PATH, then the installed data: platforms/ or share/gradway/platforms nearest above
/// the program. Warns of folders that do not exist.
DataPath data_path(std::ostream& messages);

/// Takes the variables of ns-3 (NS_LOG, NS_GLOBAL_VALUE ...) out of the environment: SimGrid brings that
/// library along, which obeys them as it is loaded, and prints or aborts.
void forget_foreign_variables();

}  // namespace gradway::cli
