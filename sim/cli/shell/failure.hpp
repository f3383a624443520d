// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/base/problem.hpp"
#include "sim/cli/shell/status.hpp"

namespace gradway::cli {

/// How work ended, and the errors if it failed.
struct Failure {
  Status status = Status::done;
  std::string text;                  ///< the whole message; empty if nothing was thrown
  std::vector<std::string> reasons;  ///< one sentence per error, without places
  std::vector<Problem> problems;     ///< errors of the user's input
};

/// Runs work. @return its status, or the failure for the exception that it threw
Failure failure_of(const std::function<Status()>& work);

}  // namespace gradway::cli
