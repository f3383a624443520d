// SPDX-License-Identifier: Apache-2.0
#include "calibration/harness/stopping.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/quantiles.hpp"

namespace gradway::probe {

Verdict judge(const StoppingRule& rule, const std::vector<Seconds>& samples, Seconds elapsed) {
  const auto count = static_cast<int>(samples.size());
  const bool has_least = count >= rule.least;
  if (has_least && median_uncertainty(samples) <= rule.uncertainty) return Verdict::settled;
  if (count >= rule.most) return Verdict::gave_up;
  if (count > 0 && elapsed >= (has_least ? 1.0 : 2.0) * rule.limit) return Verdict::gave_up;
  return Verdict::go_on;
}

Summary concluded(const StoppingRule& rule, const std::vector<Seconds>& samples) {
  // With too few repetitions for an interval, their whole spread is used.
  const auto spread = (quantile(samples, 1) - quantile(samples, 0)) / quantile(samples, 0.5) / 2;
  return summary(samples, std::min(median_uncertainty(samples), spread) > rule.noise);
}

int calls_per_repetition(Seconds once, Seconds fill, int most) {
  if (once <= Seconds{}) return most;
  return static_cast<int>(std::clamp(std::ceil(fill / once), 1.0, static_cast<double>(most)));
}

}  // namespace gradway::probe
