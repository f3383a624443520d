// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.hpp"

namespace gradway {

enum class WatchKind : std::uint8_t {
  slower_than_expected,  ///< the median is above the prediction interval
  faster_than_expected,  ///< the median is below the prediction interval
  jump,                  ///< step times change from one level to another
  drift,                 ///< step times change linearly
  periodic_stalls,       ///< single long steps at equal distances
  random_stalls,         ///< single long steps without a period
};

/// A disturbance of a run.
struct WatchFinding {
  WatchKind kind{};
  std::size_t first = 0;   ///< Index of the first step.
  std::size_t last = 0;    ///< Index of the last step.
  std::size_t steps = 0;   ///< Number of steps that take longer, or shorter.
  Seconds before{};        ///< Level of the other steps, or the limit of the interval.
  Seconds after{};         ///< Level during the disturbance; of stalls their median.
  Seconds lost{};          ///< Additional time of all its steps; 0 if they are faster.
  std::size_t period = 0;  ///< Steps from one periodic stall to the next.
};

struct ExpectedSteps {
  Seconds low{};
  Seconds time{};
  Seconds high{};
  std::string least_certain{};  ///< Part of the prediction that widens its interval most; "": unknown.
};

struct WatchedRun {
  std::size_t steps = 0;
  std::size_t warm_up = 0;  ///< Steps at the start that are left out.
  Seconds median{};
  Seconds total{};  ///< Of all steps after the warm-up.
  Seconds low{};    ///< 5 % of the steps are shorter,
  Seconds high{};   ///< and 5 % longer.
  std::optional<ExpectedSteps> expected{};
  std::vector<WatchFinding> findings{};  ///< The one that costs most first.

  /// Share of the time that the findings cost; a level above the expected one counts, too.
  double lost_share() const;
};

/// Finds jumps, drifts and stalls in the times of consecutive steps. Levels are means of segments of the
/// moving median over 5 steps. A split is accepted if the levels differ by at least 2 % and by 8 standard
/// errors; a drift, if a line fits as well as the segments. A stall takes 1.3 times its level or longer.
/// @pre at least 20 steps
WatchedRun watch_steps(const std::vector<Seconds>& times, const std::optional<ExpectedSteps>& expected);

}  // namespace gradway
