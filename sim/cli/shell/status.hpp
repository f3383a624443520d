// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gradway::cli {

/// Exit status of the program. Scripts rely on the numbers.
enum class Status : int {
  done = 0,
  bug = 1,           ///< a contract was violated
  wrong_input = 2,   ///< files, arguments, or a place that cannot be written to
  unfinished = 3,    ///< the simulation could not finish
  limit_passed = 4,  ///< a validation or a watched run exceeds its limit
};

/// Message for `std::bad_alloc`, with Status::unfinished.
inline constexpr auto no_memory =
    "error: there is not enough memory for this simulation\n  hint: simulate fewer ranks or steps\n";

}  // namespace gradway::cli
