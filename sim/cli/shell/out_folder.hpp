// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/cli/shell/command_context.hpp"
#include "sim/cli/shell/files.hpp"

namespace CLI {
class App;
}

namespace gradway::cli {

/// Adds `--out DIR`. @param files that it will hold: "report.html, report.json and trace.json.gz"
void add_out(CLI::App& app, std::string& folder, const std::string& files);

/// Whether `--out` was given. @throws ConfigError if its path is not a folder
bool wants_files(const CLI::App& app, const std::string& folder);

/// Writes files into the folder of `--out`, all or none, and prints their names to messages.
/// @param remark text to print after the names
void write_named_files(const std::string& folder, const std::vector<OutputFile>& files,
                       const CommandContext& context, const std::string& remark = "");

/// Writes the results of a command and their page.
/// @param page writes report.html, which is left out if gradway was built without it
void write_results(const std::string& folder, std::vector<OutputFile> files,
                   const std::function<void(std::ostream&)>& page, const CommandContext& context,
                   const std::string& remark = "");

}  // namespace gradway::cli
