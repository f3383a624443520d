// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "calibration/harness/context.hpp"
#include "calibration/probe/communicator.hpp"
#include "calibration/probe/gate.hpp"

namespace gradway::probe {

/// What a rank issues in a repetition; both put work on the stream and do not wait.
struct Repeated {
  std::function<void(const Stream&)> prepare;  ///< before the clock starts
  std::function<void(const Stream&)> call;     ///< what is timed
};

/// Times a call that all members of a communicator make together. The ranks start at the same time; a sample
/// is the time of the slowest rank over the number of calls. Ranks that are no members only follow.
/// @param most_calls in a repetition
/// @return the same on every rank
Summary measure_in_step(const StoppingRule& rule, Communicator& communicator, const Repeated& repeated,
                        int most_calls);

/// Repeats rounds until the rule says that it is enough; rank 0 decides for all.
/// @param round one repetition, its time the same on all ranks
std::vector<Seconds> repeat_in_step(const StoppingRule& rule, Group& group,
                                    const std::function<Seconds()>& round);

}  // namespace gradway::probe
