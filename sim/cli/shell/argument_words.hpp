// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace gradway::cli {

// The words that arguments of commands can be, each from the table that its command reads.

std::vector<std::string> listed_kinds();            ///< of `list`
std::vector<std::string> shown_kinds();             ///< of `show`
std::vector<std::string> import_formats();          ///< of `import`
std::vector<std::string> export_formats();          ///< of `export`
std::vector<std::string> calibrate_actions();       ///< of `calibrate`
std::vector<std::string> help_topics();             ///< of `help`: topics, commands, then codes of warnings
std::vector<std::string> shells();                  ///< of `completion`
std::vector<std::string> engine_names();            ///< of `--engine`
std::vector<std::string> strategies_of_training();  ///< of `init --strategy`

}  // namespace gradway::cli
