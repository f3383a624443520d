// SPDX-License-Identifier: Apache-2.0
#include "calibration/harness/worker.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <string>

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace gradway::probe {
namespace {

void say(int out, MessageKind kind, std::string text) {
  std::ranges::replace(text, '\n', ' ');
  text.insert(text.begin(), static_cast<char>(kind));
  text += '\n';
  const char* at = text.data();
  auto left = text.size();
  while (left > 0) {
    const auto written = write(out, at, left);
    if (written <= 0) _exit(1);  // The reader has ended.
    at += written;
    left -= static_cast<std::size_t>(written);
  }
}

}  // namespace

void work(const Job& job, Context context, const Rendezvous& rendezvous, int out) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  dup2(STDERR_FILENO, STDOUT_FILENO);  // Libraries may print; standard output belongs to the program.
  for (const auto& [name, value] : job.environment) setenv(name.c_str(), value.c_str(), 1);
  int status = 1;
  try {
    Group group{rendezvous};
    const bool speaks = group.rank() == 0;
    context.group = &group;
    context.emit = [&](const Row& row) {
      if (speaks) say(out, MessageKind::row, row.dump());
    };
    context.done = [&](double part) {
      if (speaks) say(out, MessageKind::done, fmt::format("{:.4f}", part));
    };
    context.remark = [&](const std::string& what) { say(out, MessageKind::remark, what); };
    job.run(context);
    group.wait_for_all();  // No rank frees GPU memory that others still use.
    status = 0;
  } catch (const GroupError& error) {
    say(out, MessageKind::lost_group, error.what());
  } catch (const std::exception& error) {
    say(out, MessageKind::failure, error.what());
  }
  // Skips destructors: after a failure CUDA and NCCL may wait in them for ranks that have ended.
  _exit(status);
}

}  // namespace gradway::probe
