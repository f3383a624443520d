// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/base/problem.hpp"

namespace gradway::cli {

/// Exit status of the program. Scripts rely on the numbers.
enum class Status : int {
  done = 0,
  bug = 1,           ///< a contract was violated
  wrong_input = 2,   ///< files, arguments, or a place that cannot be written to
  unfinished = 3,    ///< the simulation could not finish
  limit_passed = 4,  ///< a limit that was given is passed
};

/// How work ended, and the errors if it failed.
struct Failure {
  Status status = Status::done;
  std::string text;                  ///< the whole message; empty if nothing was thrown
  std::vector<std::string> reasons;  ///< one sentence per error, without places
  std::vector<Problem> problems;     ///< errors of the user's input
};

/// Runs work. @return its status, or the failure for the exception that it threw
Failure failure_of(const std::function<Status()>& work);

/// Message for `std::bad_alloc`, with Status::unfinished.
inline constexpr auto no_memory =
    "error: there is not enough memory for this simulation\n  hint: simulate fewer ranks or steps\n";

}  // namespace gradway::cli
