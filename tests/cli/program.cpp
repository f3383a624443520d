// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/program.hpp"

#include <fcntl.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace gradway::testing {
namespace {

/// In the child: never returns.
[[noreturn]] void become(const std::vector<char*>& arguments, const World& world, const std::string& output,
                         const std::string& errors) {
  const auto to_file = [](const std::string& file, int stream) {
    const int opened = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(opened, stream);
    ::close(opened);
  };
  if (!world.messages_on_terminal) to_file(errors, STDERR_FILENO);
  if (world.terminal) {
    ::setenv("TERM", "xterm", 1);  // standard output is the terminal already
  } else if (world.output_closed) {
    ::close(STDOUT_FILENO);
  } else if (world.output_broken) {
    int ends[2];
    if (::pipe(ends) == 0) {
      ::close(ends[0]);
      ::dup2(ends[1], STDOUT_FILENO);
      ::close(ends[1]);
    }
  } else {
    to_file(world.output_to.empty() ? output : world.output_to, STDOUT_FILENO);
  }
  if (world.most_memory) {
    const rlimit limit{*world.most_memory, *world.most_memory};
    ::setrlimit(RLIMIT_AS, &limit);
  }
  if (world.largest_file) {
    const rlimit limit{*world.largest_file, *world.largest_file};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  for (const auto& entry : world.environment) {
    const auto equals = entry.find('=');
    ::setenv(entry.substr(0, equals).c_str(), entry.substr(equals + 1).c_str(), 1);
  }
  ::unsetenv("NO_COLOR");
  if (world.no_color) ::setenv("NO_COLOR", "1", 1);
  ::unsetenv("GRADWAY_PATH");
  if (!world.gradway_path.empty()) ::setenv("GRADWAY_PATH", world.gradway_path.c_str(), 1);
  if (::chdir(world.folder.c_str()) == 0) ::execv(world.program.c_str(), arguments.data());
  ::_exit(127);
}

/// What the program writes to its terminal, with plain ends of lines, until it has ended.
std::string read_terminal(int terminal) {
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(terminal, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  ::close(terminal);
  std::erase(text, '\r');
  return text;
}

}  // namespace

Outcome run_gradway(const std::vector<std::string>& arguments, const World& world) {
  const TemporaryFolder folder;
  const auto output = folder.path() / "output";
  const auto errors = folder.path() / "errors";
  auto texts = arguments;
  texts.insert(texts.begin(), "gradway");
  std::vector<char*> pointers;
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);

  int terminal = -1;
  const winsize size{24, world.terminal.value_or(0), 0, 0};
  const auto child = world.terminal ? ::forkpty(&terminal, nullptr, nullptr, &size) : ::fork();
  if (child < 0) throw std::runtime_error{"cannot start a process"};
  if (child == 0) become(pointers, world, output, errors);
  const auto shown = world.terminal ? read_terminal(terminal) : "";
  int ended = 0;
  ::waitpid(child, &ended, 0);
  const int status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
  return {status, world.terminal ? shown : content_of(output), content_of(errors)};
}

TemporaryFolder::TemporaryFolder() {
  auto name = (std::filesystem::temp_directory_path() / "gradway-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error{"cannot make a temporary folder"};
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void TemporaryFolder::write(const std::string& name, const std::string& content) const {
  std::filesystem::create_directories((path_ / name).parent_path());
  std::ofstream{path_ / name} << content;
}

std::string content_of(const std::filesystem::path& file) {
  std::ostringstream content;
  content << std::ifstream{file, std::ios::binary}.rdbuf();
  return content.str();
}

}  // namespace gradway::testing
