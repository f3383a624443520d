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

/// Was `--out` given? @throws ConfigError if nothing can be written there
bool wants_files(const CLI::App& app, const std::string& folder);

/// Writes files into the folder of `--out`, all or none, and names them on messages.
/// @param remark what else to say, behind the names
void put_files(const std::string& folder, const std::vector<OutputFile>& files, const CommandContext& context,
               const std::string& remark = "");

/// The same of what a command found, with its page.
/// @param page report.html, which is left out if gradway was built without it
void put_results(const std::string& folder, std::vector<OutputFile> files,
                 const std::function<void(std::ostream&)>& page, const CommandContext& context,
                 const std::string& remark = "");

}  // namespace gradway::cli
