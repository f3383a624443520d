// SPDX-License-Identifier: Apache-2.0
#include "calibration/harness/job.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calibration/harness/worker.hpp"

namespace gradway::probe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double patience_factor = 10;
constexpr Seconds patience_more{60};
constexpr int poll_interval_ms = 200;  // To detect interruptions and hangs.

/// A process of the job.
struct Worker {
  pid_t process = -1;
  Socket pipe;
  std::string unread;  ///< The beginning of a line.
};

/// Why a job failed: the first cause that is not only the end of another rank.
struct Cause {
  std::string lost_group;
  std::string failure;

  std::string text() const { return failure.empty() ? lost_group : failure; }
};

Worker start(const Job& job, const RunSettings& run_settings, const Rendezvous& rendezvous, int gpu,
             const std::vector<Worker>& others) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error{fmt::format("no pipe: {}", std::strerror(errno))};
  const auto process = fork();
  if (process < 0) throw std::runtime_error{fmt::format("no process: {}", std::strerror(errno))};
  if (process == 0) {
    close(ends[0]);
    for (const auto& other : others) close(other.pipe.get());
    auto context = run_settings.context;
    context.gpu = gpu;
    work(job, std::move(context), rendezvous, ends[1]);
  }
  close(ends[1]);
  return {process, Socket{ends[0]}, {}};
}

std::vector<Worker> start_all(const Job& job, const RunSettings& run_settings) {
  std::vector<Worker> workers;
  if (!job.all_ranks) {
    workers.push_back(start(job, run_settings, {}, 0, workers));
  } else if (run_settings.world) {
    const auto& world = *run_settings.world;
    Rendezvous rendezvous{.rank = world.rank,
                          .ranks = world.ranks,
                          .host = world.host,
                          .port = world.port + 1 + run_settings.number};
    rendezvous.timeout = std::chrono::minutes{10};  // The others may still wait for rank 0's own probes.
    workers.push_back(start(job, run_settings, rendezvous, world.local_rank, workers));
  } else {
    const auto [listening, port] = listen_on_free_port();
    for (int rank = 0; rank < run_settings.context.gpus; ++rank) {
      workers.push_back(start(job, run_settings,
                              {.rank = rank,
                               .ranks = run_settings.context.gpus,
                               .port = port,
                               .listening = rank == 0 ? listening.get() : -1},
                              rank, workers));
    }
  }
  return workers;
}

void handle_line(const std::string& line, const Job& job, const Listener& listener, Cause& cause) {
  const auto text = line.substr(1);
  switch (static_cast<MessageKind>(line.front())) {
    case MessageKind::row:
      return listener.row(Row::parse(text));
    case MessageKind::remark:
      return listener.row({{"kind", "note"}, {"section", job.name}, {"what", text}});
    case MessageKind::done:
      return listener.done(std::strtod(text.c_str(), nullptr));
    case MessageKind::lost_group:
      if (cause.lost_group.empty()) cause.lost_group = text;
      return;
    case MessageKind::failure:
      if (cause.failure.empty()) cause.failure = text;
      return;
  }
}

/// Processes the output of a worker. @return false at its end
bool receive_output(Worker& worker, const Job& job, const Listener& listener, Cause& cause) {
  char block[65536];
  const auto count = read(worker.pipe.get(), block, sizeof block);
  if (count < 0 && errno == EINTR) return true;
  if (count <= 0) return false;
  worker.unread.append(block, static_cast<std::size_t>(count));
  std::size_t begin = 0;
  for (auto end = worker.unread.find('\n'); end != std::string::npos; end = worker.unread.find('\n', begin)) {
    if (end > begin) handle_line(worker.unread.substr(begin, end - begin), job, listener, cause);
    begin = end + 1;
  }
  worker.unread.erase(0, begin);
  return true;
}

void kill_all(const std::vector<Worker>& workers) {
  for (const auto& worker : workers) kill(worker.process, SIGKILL);
}

/// Processes output until all workers have closed theirs. @return why they were killed; empty if they were
/// not
std::string receive_all_output(std::vector<Worker>& workers, const Job& job, const RunSettings& run_settings,
                               const Listener& listener, Cause& cause) {
  const auto begin = Clock::now();
  const Seconds timeout = patience_factor * job.estimate + patience_more;
  std::string killed;
  std::vector<bool> speaks(workers.size(), true);
  while (true) {
    std::vector<pollfd> waiting;
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      if (!speaks[i]) continue;
      waiting.push_back({.fd = workers[i].pipe.get(), .events = POLLIN, .revents = 0});
      numbers.push_back(i);
    }
    if (waiting.empty()) return killed;
    poll(waiting.data(), waiting.size(), poll_interval_ms);
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].revents != 0)
        speaks[numbers[i]] = receive_output(workers[numbers[i]], job, listener, cause);
    }
    if (!killed.empty()) continue;
    const Seconds elapsed{std::chrono::duration<double>(Clock::now() - begin).count()};
    if (run_settings.interrupted != nullptr && *run_settings.interrupted) {
      killed = "interrupted";
    } else if (elapsed > timeout && !run_settings.world) {
      killed = fmt::format("ended after {:.0f} s without finishing", elapsed.value());
    }
    if (!killed.empty()) kill_all(workers);
  }
}

/// Waits for a process. @return how it failed; empty if it did not
std::string end_of(const Worker& worker) {
  int status = 0;
  while (waitpid(worker.process, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status) == 0 ? "" : "a process failed without a message";
  return fmt::format("a process was ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
}

}  // namespace

bool run_job(const Job& job, const RunSettings& run_settings, const Listener& listener) {
  auto workers = start_all(job, run_settings);
  Cause cause;
  const auto killed = receive_all_output(workers, job, run_settings, listener, cause);
  std::string end;
  for (const auto& worker : workers) {
    const auto text = end_of(worker);
    if (end.empty()) end = text;
  }
  if (end.empty()) return true;
  // A process ended by a signal best explains why the others lost the connection.
  auto what = killed;
  if (what.empty()) what = cause.failure;
  if (what.empty() && end.find("signal") != std::string::npos) what = end;
  if (what.empty()) what = cause.text().empty() ? end : cause.text();
  listener.row({{"kind", "failed"}, {"section", job.name}, {"what", what}});
  return false;
}

}  // namespace gradway::probe
