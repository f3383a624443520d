// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "sim/base/units.hpp"

namespace gradway {

/// What is left of a child process.
struct ChildResult {
  bool finished = false;     ///< it handed over all of its result
  bool out_of_time = false;  ///< it had not, and was silent for too long
  std::string result;        ///< what its work returned
  std::string last_words;    ///< the end of what it printed
  std::string fate;          ///< how it ended, for people: "exit status 1", "signal 6 (Aborted)"
};

/// Runs `work` in a forked child and waits for it. The child prints to nobody, leaves without running
/// destructors of this process and cannot change anything here. Safe to call from several threads at once.
/// `work` should not throw: the child would end there.
/// @param most_time that the child may be silent: then it is ended. Time in which this process was stopped
/// itself does not count.
/// @throws SimulationError if the system gives no process or no pipe
ChildResult run_in_child(const std::function<std::string()>& work, Seconds most_time = Seconds::infinite());

}  // namespace gradway
