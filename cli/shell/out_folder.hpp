// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/shell/command_context.hpp"
#include "cli/shell/files.hpp"

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

/// What a command found out, in all forms.
struct Results {
  std::function<void(std::ostream&)> text;  ///< for a person
  std::function<void(std::ostream&)> page;  ///< report.html
  std::vector<OutputFile> files;            ///< the first has the document that `--json` prints
};

/// Prints results, and writes their files and their page if there is a folder.
/// @param printed name of the file that is printed; empty: the text
/// @param folder of `--out`; empty: no files
void show(const Results& results, std::string_view printed, const std::string& folder,
          const CommandContext& context, const std::string& remark = "");

}  // namespace gradway::cli
