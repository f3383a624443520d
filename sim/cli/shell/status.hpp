// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gradway::cli {

/// How the program ends; scripts rely on the numbers.
enum class Status : int {
  done = 0,
  bug = 1,           ///< a contract was broken
  wrong_input = 2,   ///< files, arguments, places to write to
  unfinished = 3,    ///< the simulation could not finish
  limit_passed = 4,  ///< a validation is worse than asked for
};

/// What is said of `std::bad_alloc`, with Status::unfinished.
inline constexpr auto no_memory =
    "error: there is not enough memory for this simulation\n  hint: simulate fewer ranks or steps\n";

}  // namespace gradway::cli
