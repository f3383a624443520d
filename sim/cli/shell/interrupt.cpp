// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/shell/interrupt.hpp"

#include <csignal>

namespace gradway::cli {
namespace {

volatile std::sig_atomic_t noted = 0;

extern "C" void note_interrupt(int) {
  noted = 1;
  std::signal(SIGINT, SIG_DFL);
}

}  // namespace

InterruptNote::InterruptNote() {
  noted = 0;
  std::signal(SIGINT, note_interrupt);
}

InterruptNote::~InterruptNote() {
  std::signal(SIGINT, SIG_DFL);
}

bool InterruptNote::is_interrupted() {
  return noted != 0;
}

}  // namespace gradway::cli
