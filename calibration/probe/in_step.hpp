// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "calibration/harness/context.hpp"
#include "calibration/probe/communicator.hpp"
#include "calibration/probe/gate.hpp"

namespace gradway::probe {

/// Work of a rank in a repetition; both functions issue work and do not wait.
struct Repeated {
  std::function<void(const Stream&)> prepare;  ///< Before the clock starts.
  std::function<void(const Stream&)> call;     ///< The timed work.
};

/// Times a call made by all members of a communicator. The ranks start at the same time; a sample is the time
/// of the slowest rank divided by the number of calls. Ranks that are not members only synchronise.
/// @param most_calls in a repetition
/// @return the same on every rank
Summary measure_in_step(const StoppingRule& rule, Communicator& communicator, const Repeated& repeated,
                        int most_calls);

/// Repeats rounds until the rule is satisfied; rank 0 decides for all.
/// @param round one repetition, with the same time on all ranks
std::vector<Seconds> repeat_in_step(const StoppingRule& rule, Group& group,
                                    const std::function<Seconds()>& round);

}  // namespace gradway::probe
