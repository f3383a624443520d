// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string_view>

#include "cli/shell/failure.hpp"
#include "cli/shell/serve.hpp"
#include "cli/shell/usage.hpp"

namespace gradway::cli {
namespace {

/// Opens /dev/null for standard streams that the caller closed. Otherwise a file that is opened later would
/// get the number of the stream and its output.
void occupy_standard_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (fcntl(stream, F_GETFD) == -1)
      static_cast<void>(::open("/dev/null", O_RDONLY));  // takes the lowest free number
  }
}

/// Makes the C library reuse freed memory for the next simulation, which needs as much. Otherwise a sweep
/// spends a fifth of its time on page faults, and what-ifs of a large model a third.
void keep_memory() {
  constexpr int kept = 1 << 30;  // bytes
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, kept);
}

/// Runs the command. Errors are written to standard error; then there are no results.
Status run_command(int argc, const char* const* argv, std::ostringstream& results) {
  const auto failure = failure_of([&] {
    return parse_command_line(argc, argv)(
        CommandContext{results, std::cerr, style_of_output(), progress_columns(), data_path(std::cerr)});
  });
  std::cerr << failure.text;
  if (!failure.text.empty()) results.str("");
  return failure.status;
}

/// Writes the results. A reader that stops early (`gradway list models | head -1`) is not an error.
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
  gradway::cli::keep_memory();
  gradway::cli::occupy_standard_streams();
  // `write` reports a closed pipe and a limit of the file size instead.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  gradway::cli::remove_foreign_variables();
  if (const bool has_progress = argc == 3 && argv[2] == gradway::cli::progress_mark;
      (argc == 2 || has_progress) && argv[1] == gradway::cli::serve_mark) {
    using gradway::cli::ServedProgress;
    gradway::cli::serve(has_progress ? ServedProgress::lines : ServedProgress::silent);
    return static_cast<int>(Status::done);
  }
  std::ostringstream results;
  const auto status = gradway::cli::run_command(argc, argv, results);
  const bool delivered = gradway::cli::deliver(results.view());
  return static_cast<int>(delivered || status != Status::done ? status : Status::wrong_input);
}
