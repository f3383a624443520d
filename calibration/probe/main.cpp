// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <csignal>
#include <iostream>

#include <unistd.h>

#include "calibration/harness/run.hpp"
#include "calibration/probe/jobs.hpp"
#include "calibration/probe/libraries.hpp"

namespace {

std::atomic<bool> interrupted = false;

void interrupt(int /*signal*/) {
  interrupted = true;
}

}  // namespace

int main(int count, char** arguments) {
  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
  std::signal(SIGPIPE, SIG_IGN);
  const gradway::probe::Program program{.libraries = gradway::probe::find_libraries,
                                        .facts = gradway::probe::facts_job(),
                                        .jobs = gradway::probe::all_jobs,
                                        .version = GRADWAY_VERSION,
                                        .interrupted = &interrupted,
                                        .messages = &std::cerr,
                                        .results = &std::cout,
                                        .terminal = isatty(STDERR_FILENO) != 0};
  return static_cast<int>(run_program(program, count, arguments));
}
