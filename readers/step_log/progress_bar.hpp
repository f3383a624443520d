// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace gradway {

/// What a line of tqdm's bar shows: "12/80 [00:27<02:36, 2.31s/it]".
struct ProgressBar {
  double steps = 0;     ///< that have ended
  double elapsed = 0;   ///< whole seconds since the start
  double time = 0;      ///< of a step, in seconds, as shown
  double rounding = 0;  ///< largest error of `time`
};

/// Steps and elapsed time of a bar; empty if the line has none.
std::optional<ProgressBar> progress_bar(std::string_view line);

/// Seconds of a step before each line. tqdm averages: exponentially, or, with smoothing 0 as in Lightning,
/// over all steps since the start. What cannot be such an average stays as shown.
/// @source tqdm 4.67, std.py: EMA, update() and format_meter()
std::vector<double> step_times(const std::vector<ProgressBar>& bars);

}  // namespace gradway
