// SPDX-License-Identifier: Apache-2.0
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/cli/commands.hpp"

namespace gradway::cli {
namespace {

constexpr const char* python = "python3";
constexpr int not_found = 127;

/// Folder that contains the Python package, in the checkout or wheel of this program; empty if there is none.
std::filesystem::path package_folder() {
  std::error_code failed;
  auto folder = std::filesystem::read_symlink("/proc/self/exe", failed).parent_path();
  for (; !failed && folder.has_relative_path(); folder = folder.parent_path())
    for (const auto& place : {folder / "python", folder})
      if (std::filesystem::exists(place / "gradway/capture/__main__.py", failed)) return place;
  return {};
}

/// Runs the recorder in the user's Python, which has PyTorch.
Status run_recorder(const std::vector<std::string>& arguments) {
  if (const auto folder = package_folder(); !folder.empty()) {
    const auto* others = std::getenv("PYTHONPATH");
    const auto path = others == nullptr ? folder.string() : fmt::format("{}:{}", folder.string(), others);
    ::setenv("PYTHONPATH", path.c_str(), 1);
  }
  std::vector<std::string> words{python, "-m", "gradway.capture"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> command;
  for (auto& word : words) command.push_back(word.data());
  command.push_back(nullptr);
  pid_t child = 0;
  int ended = 0;
  if (::posix_spawnp(&child, python, nullptr, nullptr, command.data(), environ) != 0 ||
      ::waitpid(child, &ended, 0) != child || (WIFEXITED(ended) && WEXITSTATUS(ended) == not_found))
    refuse("python3 not found, which runs the program to capture",
           "activate the Python environment in which you train");
  if (WIFEXITED(ended) && WEXITSTATUS(ended) == 0) return Status::done;
  return Status::wrong_input;
}

}  // namespace

Action add_capture(CLI::App& app) {
  app.allow_extras();
  app.prefix_command();
  return [&app](const CommandContext&) { return run_recorder(app.remaining()); };
}

}  // namespace gradway::cli
