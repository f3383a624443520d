// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "calibration/harness/statistics.hpp"

namespace gradway::probe {

/// Decides when a measurement has been repeated often enough.
struct StoppingRule {
  int least = 7;               ///< Minimum repetitions, unless twice the limit has passed.
  int most = 60;               ///< Maximum repetitions.
  double uncertainty = 0.005;  ///< Uncertainty of the median (median_uncertainty) at which it has converged.
  double noise = 0.03;         ///< Uncertainty above which a finished measurement is noisy.
  Seconds limit{0.25};         ///< Time for one measurement.
};

/// Decision after some repetitions.
enum class Verdict { go_on, settled, gave_up };

/// settled: enough repetitions, and the median is accurate enough. gave_up: it is not, but the maximum number
/// of repetitions is done or the time is over (twice the time if the minimum is not done).
/// @param elapsed since the first repetition began
Verdict judge(const StoppingRule& rule, const std::vector<Seconds>& samples, Seconds elapsed);

/// The summary of a finished measurement: noisy if the median is less certain than the rule's noise.
Summary concluded(const StoppingRule& rule, const std::vector<Seconds>& samples);

/// Number of calls per repetition that makes the clock's resolution and the cost of the two events
/// negligible: enough to fill the time, within the limits.
/// @param once the time of one call, from a warm-up
int calls_per_repetition(Seconds once, Seconds fill, int most);

}  // namespace gradway::probe
