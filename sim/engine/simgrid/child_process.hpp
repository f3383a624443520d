// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "sim/base/units.hpp"

namespace gradway {

/// The result of a child process.
struct ChildResult {
  bool finished = false;     ///< the result is complete
  bool out_of_time = false;  ///< it was silent for too long and was killed
  std::string result;        ///< return value of `work`
  std::string last_words;    ///< the end of its output
  std::string fate;          ///< for messages: "exit status 1", "signal 6 (Aborted)"
};

/// Runs `work` in a forked child and waits for it. The output of the child is captured. It ends without
/// running destructors of this process and cannot change its memory. Safe to call from several threads.
/// `work` must not throw: that ends the child.
/// @param most_time after which a silent child is killed; time in which this process was stopped does not
/// count
/// @throws SimulationError if the system refuses a process or a pipe
ChildResult run_in_child(const std::function<std::string()>& work, Seconds most_time = Seconds::infinite());

}  // namespace gradway
