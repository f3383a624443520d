// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string_view>

#include "sim/cli/shell/failure.hpp"
#include "sim/cli/shell/serve.hpp"
#include "sim/cli/shell/usage.hpp"

namespace gradway::cli {
namespace {

/// A standard stream that the caller closed stays unusable: a file opened later must not take its number and
/// get what was meant for the caller.
void occupy_standard_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (fcntl(stream, F_GETFD) == -1)
      static_cast<void>(::open("/dev/null", O_RDONLY));  // takes the lowest free number
  }
}

/// Runs the command. What went wrong is told on standard error, and then there are no results.
Status run_command(int argc, const char* const* argv, std::ostringstream& results) {
  const auto failure = failure_of([&] {
    return parse_command_line(argc, argv)(
        CommandContext{results, std::cerr, style_of_output(), progress_columns(), data_path(std::cerr)});
  });
  std::cerr << failure.text;
  if (!failure.text.empty()) results.str("");
  return failure.status;
}

/// Writes the results. A reader that has seen enough (`gradway list models | head -1`) is no error.
bool deliver(std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      return true;
    } else if (errno != EINTR) {
      std::cerr << "error: cannot write to standard output: " << std::strerror(errno) << '\n';
      return false;
    }
  }
  return true;
}

}  // namespace
}  // namespace gradway::cli

int main(int argc, char** argv) {
  using gradway::cli::Status;
  gradway::cli::occupy_standard_streams();
  // A reader that is gone, and a file that may not get larger, are told by `write` instead.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  gradway::cli::forget_foreign_variables();
  if (argc == 2 && argv[1] == gradway::cli::serve_mark) {
    gradway::cli::serve();
    return static_cast<int>(Status::done);
  }
  std::ostringstream results;
  const auto status = gradway::cli::run_command(argc, argv, results);
  const bool delivered = gradway::cli::deliver(results.view());
  return static_cast<int>(delivered || status != Status::done ? status : Status::wrong_input);
}
