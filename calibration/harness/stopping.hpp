// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "calibration/harness/statistics.hpp"

namespace gradway::probe {

/// When a measurement has been repeated often enough.
struct StoppingRule {
  int least = 7;               ///< repetitions in any case, unless the limit has passed twice over
  int most = 60;               ///< repetitions at the most
  double uncertainty = 0.005;  ///< of the median (median_uncertainty) at which it has settled
  double noise = 0.03;         ///< uncertainty above which an ended measurement is called noisy
  Seconds limit{0.25};         ///< time for one measurement
};

/// What to do after some repetitions.
enum class Verdict { go_on, settled, gave_up };

/// settled: enough repetitions, and the median is known well enough. gave_up: it is not, but the most
/// repetitions are done or the time is over (twice the time if the least are not done).
/// @param elapsed since the first repetition began
Verdict judge(const StoppingRule& rule, const std::vector<Seconds>& samples, Seconds elapsed);

/// The summary of an ended measurement: noisy if the median is less sure than the rule's noise.
Summary concluded(const StoppingRule& rule, const std::vector<Seconds>& samples);

/// How many calls one repetition holds, so that the clock's resolution and the cost of the two events vanish:
/// as many as fill the time, within the limits.
/// @param once the time of one call, from a warm-up
int calls_a_repetition(Seconds once, Seconds fill, int most);

}  // namespace gradway::probe
