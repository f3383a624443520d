// SPDX-License-Identifier: Apache-2.0
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/shell/common_options.hpp"
#include "sim/config/yaml/scalars.hpp"

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

struct CaptureArguments {
  std::string out;
  std::string batch;
  std::string ranks;
  std::string add;
  std::vector<std::string> times;
  bool is_module = false;
};

/// Runs the recorder in the user's Python, which has PyTorch.
Status run_recorder(const std::vector<std::string>& arguments) {
  if (const auto folder = package_folder(); !folder.empty()) {
    const auto* python_path = std::getenv("PYTHONPATH");
    const auto path =
        python_path == nullptr ? folder.string() : fmt::format("{}:{}", folder.string(), python_path);
    ::setenv("PYTHONPATH", path.c_str(), 1);
  }
  std::error_code failed;  // The recorder lets this program read what it writes.
  if (const auto self = std::filesystem::read_symlink("/proc/self/exe", failed); !failed)
    ::setenv("GRADWAY", self.c_str(), 1);
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
  if (WIFSIGNALED(ended))
    refuse(
        fmt::format("the program was ended by signal {} ({})", WTERMSIG(ended), ::strsignal(WTERMSIG(ended))),
        "run it alone with python3: a library of the program may have failed, or memory run out");
  if (WIFEXITED(ended) && WEXITSTATUS(ended) == 0) return Status::done;
  return Status::wrong_input;
}

/// @param program the program to capture and its arguments
Status capture(const CaptureArguments& arguments, const std::vector<std::string>& program) {
  if (program.empty())
    refuse("'gradway capture' needs a program to capture",
           "write 'gradway capture train.py', with the program's arguments after it");
  std::vector<std::string> words;
  if (!arguments.out.empty()) words.insert(words.end(), {"--out", arguments.out});
  if (const auto batch = value_of("--batch", arguments.batch, config::integer(1, 1'000'000)))
    words.insert(words.end(), {"--batch", fmt::to_string(*batch)});
  if (const auto ranks = value_of("--ranks", arguments.ranks, config::integer(1, 1'000'000)))
    words.insert(words.end(), {"--ranks", fmt::to_string(*ranks)});
  if (!arguments.add.empty()) words.insert(words.end(), {"--add", arguments.add});
  for (const auto& time : arguments.times) words.insert(words.end(), {"--time", time});
  if (arguments.is_module) words.emplace_back("-m");
  words.insert(words.end(), program.begin(), program.end());
  return run_recorder(words);
}

}  // namespace

Action add_capture(CLI::App& app) {
  const auto arguments = std::make_shared<CaptureArguments>();
  app.add_option("-o,--out", arguments->out, "model file to write (default: models/PROGRAM.yaml)")
      ->type_name("FILE");
  add_flag(app, "-m,--module", arguments->is_module, "the program is a module, as for python -m");
  app.add_option("--batch", arguments->batch,
                 "samples of a micro-batch (default: first dimension of the model's first argument)")
      ->type_name("N");
  app.add_option("--ranks", arguments->ranks,
                 "ranks that the program sees, as torchrun would start them (default: 1)")
      ->type_name("N");
  app.add_option("--add", arguments->add,
                 "adds the step to a model file of the same program at another sequence length")
      ->type_name("FILE");
  app.add_option("--time", arguments->times,
                 "time of a call of an operation that gradway does not know, such as mylib.scan=35us; can be "
                 "repeated")
      ->type_name("NAME=TIME")
      ->allow_extra_args(false);
  app.prefix_command();
  return [&app, arguments](const CommandContext&) { return capture(*arguments, app.remaining()); };
}

}  // namespace gradway::cli
