// SPDX-License-Identifier: Apache-2.0
#include "cli/ui/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "cli/shell/failure.hpp"
#include "cli/shell/serve.hpp"
#include "sim/base/problem.hpp"

namespace gradway::cli {
namespace {

/// How often a client hears of a question that it waits for, and its end is noticed. Short enough for people
/// who watch a bar, or cancel.
constexpr int report_interval_ms = 200;

/// Enough for a page that asks while its last question still ends.
constexpr std::size_t most_idle = 2;

struct Pipe {
  FileDescriptor reading;
  FileDescriptor writing;
};

[[noreturn]] void refuse_start(int error) {
  throw SimulationError{fmt::format("cannot start a process for the simulation: {}", std::strerror(error))};
}

Pipe open_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) refuse_start(errno);
  return {FileDescriptor{ends[0]}, FileDescriptor{ends[1]}};
}

/// Starts this program again. It gets none of this program's other files, or a client's connection would stay
/// open; an interrupt from the keyboard is not for it.
pid_t start(const std::array<int, 3>& streams) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  for (std::size_t i = 0; i < streams.size(); ++i)
    ::posix_spawn_file_actions_adddup2(&files, streams[i], static_cast<int>(i));
  ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  std::string mark{serve_mark};
  std::string progress{progress_mark};
  std::array<char*, 4> arguments{const_cast<char*>("gradway"), mark.data(), progress.data(), nullptr};
  pid_t process = -1;
  const int error = ::posix_spawn(&process, "/proc/self/exe", &files, &attributes, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) refuse_start(error);
  return process;
}

std::string encoded(const ChildRequest& request) {
  auto text = fmt::format("{} {}\n", request.arguments.size(), request.texts.size());
  const auto add = [&](const std::string& word) {
    text += word;
    text += '\0';
  };
  for (const auto& argument : request.arguments) add(argument);
  for (const auto& [name, content] : request.texts) {
    add(name);
    add(content);
  }
  return text;
}

}  // namespace

Child::Child() {
  auto requests = open_pipe();
  auto answers = open_pipe();
  auto messages = open_pipe();
  process_ = start({requests.reading.get(), answers.writing.get(), messages.writing.get()});
  requests_ = std::move(requests.writing);
  answers_ = std::move(answers.reading);
  messages_ = std::move(messages.reading);
}

Child::~Child() {
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  fate_of(process_);
}

std::optional<ChildAnswer> Child::ask(const ChildRequest& request, const GoesOn& goes_on) {
  const auto question = encoded(request);
  while (has_messages()) read_messages();  // what is left of the progress of the last request
  answer_.clear();
  progress_.clear();
  if (!requests_.write_all(question.data(), question.size())) return last_words();
  for (;;) {
    if (auto answer = whole_answer()) return answer;
    std::array<pollfd, 2> files{pollfd{answers_.get(), POLLIN, 0}, pollfd{messages_.get(), POLLIN, 0}};
    if (::poll(files.data(), files.size(), report_interval_ms) <= 0) {
      if (!goes_on(progress_)) return std::nullopt;
      continue;
    }
    if (files[1].revents != 0) {
      read_messages();
      if (!goes_on(progress_)) return std::nullopt;
    }
    if (files[0].revents != 0 && !answers_.read_some(answer_)) return last_words();
  }
}

bool Child::has_messages() const {
  pollfd file{messages_.get(), POLLIN, 0};
  return ::poll(&file, 1, 0) > 0;
}

void Child::read_messages() {
  if (!messages_.read_some(unread_line_)) return messages_.close();
  for (auto end = unread_line_.find('\n'); end != std::string::npos; end = unread_line_.find('\n')) {
    const auto line = unread_line_.substr(0, end);
    unread_line_.erase(0, end + 1);
    if (line.starts_with(progress_mark)) {
      progress_ = line.substr(progress_mark.size() + 1);
    } else {
      printed_ += line + '\n';
    }
  }
}

/// The answer, once all of it has been read.
std::optional<ChildAnswer> Child::whole_answer() {
  const auto end = answer_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::istringstream head{answer_.substr(0, end)};
  int status = 0;
  std::size_t results = 0;
  std::size_t messages = 0;
  std::size_t problems = 0;
  head >> status >> results >> messages >> problems;
  const auto start = end + 1;
  if (answer_.size() < start + results + messages + problems) return std::nullopt;
  return ChildAnswer{status, answer_.substr(start, results), answer_.substr(start + results, messages)};
}

/// What is to be said of a process that has ended, such as one that the system ended for want of memory.
ChildAnswer Child::last_words() {
  answers_.close();
  while (messages_.is_open()) read_messages();
  const auto fate = fate_of(std::exchange(process_, -1));
  return {static_cast<int>(Status::unfinished), "",
          fmt::format("error: the simulation's process has ended with {}\n{}  hint: it may have needed more "
                      "memory than there is; simulate fewer ranks or steps\n",
                      fate, printed_)};
}

Children::Children() {
  idle_.push_back(std::make_unique<Child>());
}

std::optional<ChildAnswer> Children::ask(const ChildRequest& request, const GoesOn& goes_on) {
  auto child = take();
  auto answer = child->ask(request, goes_on);
  // One that was given up is still at work; another takes its place, so that the next request need not wait.
  if (!answer || !child->is_alive()) child = std::make_unique<Child>();
  give_back(std::move(child));
  return answer;
}

std::unique_ptr<Child> Children::take() {
  {
    const std::scoped_lock lock{mutex_};
    if (!idle_.empty()) {
      auto child = std::move(idle_.back());
      idle_.pop_back();
      return child;
    }
  }
  return std::make_unique<Child>();
}

void Children::give_back(std::unique_ptr<Child> child) {
  const std::scoped_lock lock{mutex_};
  if (idle_.size() < most_idle) idle_.push_back(std::move(child));
}

}  // namespace gradway::cli
