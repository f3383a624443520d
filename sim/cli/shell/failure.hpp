// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/base/problem.hpp"
#include "sim/cli/shell/status.hpp"

namespace gradway::cli {

/// How work ended, and why it gave nothing.
struct Failure {
  Status status = Status::done;
  std::string text;                  ///< what is told of what was thrown; empty: nothing was
  std::vector<std::string> reasons;  ///< what is wrong, one sentence each, without places
  std::vector<Problem> problems;     ///< of the user's input
};

/// Does work that says how it ended. @return that, or what became of what it threw
Failure failure_of(const std::function<Status()>& work);

}  // namespace gradway::cli
