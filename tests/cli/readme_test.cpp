// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/program.hpp"

namespace {

/// A command that the README shows, and what it says the command prints.
struct Shown {
  std::string arguments;
  std::string output;
};

const std::string prompt = "$ build/release/gradway ";

/// The commands in the README's console blocks.
std::vector<Shown> shown_commands() {
  std::ifstream file{std::string{GRADWAY_SOURCE_DIR} + "/README.md"};
  std::vector<Shown> shown;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      inside = line == "```console";
    } else if (inside && line.starts_with(prompt)) {
      shown.push_back({line.substr(prompt.size()), ""});
    } else if (inside && !shown.empty()) {
      shown.back().output += line + "\n";
    }
  }
  return shown;
}

/// Lines of the README's plain blocks that run gradway; their output is not shown, but they must work.
std::vector<std::string> plain_commands() {
  std::ifstream file{std::string{GRADWAY_SOURCE_DIR} + "/README.md"};
  std::vector<std::string> commands;
  const std::string start = "build/release/gradway ";
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(start)) continue;
    const auto comment = line.find("  #");
    commands.push_back(
        line.substr(start.size(), comment == std::string::npos ? comment : comment - start.size()));
  }
  return commands;
}

struct Ran {
  std::string output;
  int status;
};

/// @param own a folder in which names are looked up first; empty: none
Ran run_by_shell(const std::string& arguments, const std::string& own = "") {
  const auto command = "GRADWAY_PATH='" + own + "'; export GRADWAY_PATH; cd '" + GRADWAY_SOURCE_DIR +
                       "' && '" + GRADWAY_PROGRAM + "' " + arguments;
  auto* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Ran ran{};
  char buffer[4096];
  for (std::size_t got = 0; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    ran.output.append(buffer, got);
  ran.status = pclose(pipe);
  return ran;
}

/// Does a command print what is shown? A line "..." stands for any lines.
bool is_as_shown(const std::string& printed, const std::string& shown) {
  const auto cut = shown.find("...\n");
  if (cut == std::string::npos) return printed == shown;
  const auto end = shown.substr(cut + 4);
  return printed.size() >= shown.size() && printed.starts_with(shown.substr(0, cut)) &&
         printed.ends_with(end);
}

}  // namespace

TEST_CASE("the README shows what its commands print") {
  const auto shown = shown_commands();
  REQUIRE(shown.size() >= 2);
  for (const auto& [arguments, output] : shown) {
    CAPTURE(arguments);
    const auto ran = run_by_shell(arguments);
    CHECK(ran.status == 0);
    CAPTURE(ran.output, output);
    CHECK(is_as_shown(ran.output, output));
  }
}

/// What the README leaves to the reader stands in a folder of the test: results, a small made-up trace, and
/// samples of ours.
std::string with_own_files(std::string command, const std::string& folder) {
  const std::pair<std::string, std::string> own[] = {
      {"--out results", "--out '" + folder + "/results'"},
      {" trace.json", " tests/cli/data/trace.json"},
      {"-o models/mine.yaml", "-o '" + folder + "/model.yaml'"},
      {"show model mine", "show model '" + folder + "/model.yaml'"},
      {"-o platforms/node.yaml", "-o '" + folder + "/platforms/node.yaml'"},
      {" topo.txt", " tests/import/data/topo-4x-h200.txt"},
      {" nccl-topo.xml", " tests/import/data/nccl-topo-4x-h200.xml"},
      {" all_reduce.log", " tests/import/data/nccl-tests-all_reduce-8x-nvswitch.txt"},
      {"-o samples.json ", "-o '" + folder + "/samples.json' "},
      {" samples.json.gz", " calibration/results/h200-4x/samples/machine-1.json.gz"},
      {"-o platforms/mine.yaml", "-o '" + folder + "/platforms/mine.yaml'"},
      {"-o calibration/results/mine/calibration.yaml",
       "-o '" + folder + "/calibration/results/mine/calibration.yaml'"}};
  for (const auto& [theirs, ours] : own) {
    if (const auto at = command.find(theirs); at != std::string::npos)
      command.replace(at, theirs.size(), ours);
  }
  return command;
}

TEST_CASE("the other commands of the README work") {
  const auto commands = plain_commands();
  REQUIRE(commands.size() >= 5);
  const gradway::testing::TemporaryFolder folder;
  for (const auto& command : commands) {
    CAPTURE(command);
    const auto ran = run_by_shell(with_own_files(command, folder.path().string()), folder.path().string());
    CHECK(ran.status == 0);
    CHECK_FALSE(ran.output.empty());
  }
}
