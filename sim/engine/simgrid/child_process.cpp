// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/simgrid/child_process.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>

#include "sim/base/problem.hpp"
#include "sim/base/process.hpp"

namespace gradway {

namespace {

/// Number of bytes of a child's output that are kept.
constexpr off_t most_last_words = 2000;

/// Waiting is counted in polls of this length, not by a clock, so that time in which the parent was stopped
/// (Ctrl-Z) does not count.
constexpr Seconds poll_time{0.05};

/// @return false if there is nothing to read after `most_time`
bool wait_for(const FileDescriptor& file, Seconds most_time) {
  pollfd descriptor{file.get(), POLLIN, 0};
  for (Seconds waited{}; waited < most_time; waited += poll_time) {
    const int ready = ::poll(&descriptor, 1, static_cast<int>(poll_time.value() * 1e3));
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
  }
  return false;
}

/// Appends all bytes up to the end. @return false if nothing arrived for `most_time`
bool read_all(const FileDescriptor& file, std::string& text, Seconds most_time = Seconds::infinite()) {
  while (wait_for(file, most_time))
    if (!file.read_some(text)) return true;
  return false;
}

[[noreturn]] void refuse(const char* reason) {
  throw SimulationError{fmt::format("cannot run a child process: {}: {}", reason, std::strerror(errno))};
}

/// Runs in the child; never returns.
[[noreturn]] void run_as_child(const std::function<std::string()>& work, const FileDescriptor& results,
                               const FileDescriptor& printed) {
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGILL, SIGTERM, SIGINT}) std::signal(signal, SIG_DFL);
  ::dup2(printed.get(), STDOUT_FILENO);
  ::dup2(printed.get(), STDERR_FILENO);
  const std::string result = work();
  const std::uint64_t size = result.size();
  const bool sent = results.write_all(reinterpret_cast<const char*>(&size), sizeof size) &&
                    results.write_all(result.data(), result.size());
  ::_exit(sent ? 0 : 1);
}

std::string end_of(const FileDescriptor& printed) {
  const off_t size = ::lseek(printed.get(), 0, SEEK_END);
  ::lseek(printed.get(), size > most_last_words ? size - most_last_words : 0, SEEK_SET);
  std::string text;
  read_all(printed, text);
  return text;
}

}  // namespace

ChildResult run_in_child(const std::function<std::string()>& work, Seconds most_time) {
  // A child that is forked while another thread holds the writing end of its pipe keeps that pipe open.
  static std::mutex one_fork_at_a_time;
  std::unique_lock lock{one_fork_at_a_time};
  int ends[2];
  if (::pipe(ends) != 0) refuse("no pipe");
  const FileDescriptor incoming{ends[0]};
  FileDescriptor outgoing{ends[1]};
  const FileDescriptor printed{::memfd_create("printed", MFD_CLOEXEC)};
  if (printed.get() < 0) refuse("no memory for its output");
  const pid_t child = ::fork();
  if (child < 0) refuse("no process");
  if (child == 0) run_as_child(work, outgoing, printed);
  outgoing.close();
  lock.unlock();

  ChildResult outcome;
  std::string bytes;
  outcome.out_of_time = !read_all(incoming, bytes, most_time);
  if (outcome.out_of_time) ::kill(child, SIGKILL);
  outcome.fate = fate_of(child);
  outcome.last_words = end_of(printed);
  std::uint64_t size = 0;
  if (bytes.size() < sizeof size) return outcome;
  std::memcpy(&size, bytes.data(), sizeof size);
  outcome.result = bytes.substr(sizeof size);
  outcome.finished = outcome.result.size() == size;
  return outcome;
}

}  // namespace gradway
