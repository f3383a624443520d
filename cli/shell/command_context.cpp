// SPDX-License-Identifier: Apache-2.0
#include "cli/shell/command_context.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include "sim/base/printable.hpp"

namespace gradway::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t narrowest = 60;
constexpr std::size_t widest = 100;  // longer lines are hard to read

std::string_view variable(const char* name) {
  const auto* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view{value};
}

bool has_platforms(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_directory(folder / "platforms", ignored);
}

/// The data folder of this program: in a source tree above it, else share/gradway next to where it is
/// installed. If there is none, the place where it should be.
fs::path installed_data() {
  std::error_code error;
  const auto program = fs::read_symlink("/proc/self/exe", error);
  for (auto folder = program.parent_path(); !error && folder.has_relative_path();
       folder = folder.parent_path()) {
    if (has_platforms(folder)) return folder;
    if (has_platforms(folder / "share" / "gradway")) return folder / "share" / "gradway";
  }
  return program.parent_path().parent_path() / "share" / "gradway";
}

}  // namespace

report::Style style_of_output() {
  report::Style style;
  if (isatty(STDOUT_FILENO) == 0) {
    style.table_width = report::Style::unlimited;  // files and pipes have no width
    return style;
  }
  style.colour = variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    style.width = std::clamp<std::size_t>(size.ws_col, narrowest, widest);
    style.table_width = std::max<std::size_t>(size.ws_col, narrowest);
  }
  return style;
}

void warn(const CommandContext& context, std::string_view text) {
  // Names in it may have megabytes; gradway's own texts are far shorter.
  constexpr std::size_t longest = 4000;
  context.messages << "warning: " << printable(shortened(text, longest)) << '\n';
}

std::size_t progress_columns() {
  if (isatty(STDERR_FILENO) == 0 || variable("TERM") == "dumb") return 0;
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : report::Style{}.width;
}

DataPath data_path(std::ostream& messages) {
  DataPath data;
  auto folders = variable("GRADWAY_PATH");
  while (!folders.empty()) {
    const auto end = std::min(folders.find(':'), folders.size());
    const fs::path folder{folders.substr(0, end)};
    folders.remove_prefix(std::min(end + 1, folders.size()));
    if (folder.empty()) continue;
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored)) {
      messages << "warning: GRADWAY_PATH contains '" << printable(folder.string())
               << "', which is not a folder\n";
      continue;
    }
    data.roots.push_back(folder);
  }
  data.roots.push_back(installed_data());
  if (!has_platforms(data.roots.back()))
    messages << "warning: gradway's data folder '" << printable(data.roots.back().string())
             << "' does not exist\n";
  return data;
}

void remove_foreign_variables() {
  std::vector<std::string> names;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text{*entry};
    if (text.starts_with("NS_")) names.emplace_back(text.substr(0, text.find('=')));
  }
  for (const auto& name : names) unsetenv(name.c_str());
}

}  // namespace gradway::cli
