// SPDX-License-Identifier: Apache-2.0
#include "sim/run/whole_timeline.hpp"

#include <algorithm>

namespace gradway {

std::optional<Run> with_whole_timeline(const Run& run, std::string_view engine) {
  constexpr double most_ops_drawn = 500'000;  // half a second, and a trace of some 50 MB
  const auto& repeated = run.window.repeated;
  if (repeated.left_out == 0) return std::nullopt;
  const auto of_period =
      std::ranges::count_if(run.timeline.end, [&](Seconds end) { return repeated.has(end); });
  const auto left_out = static_cast<double>(of_period) * repeated.left_out * run.workload.steps;
  if (static_cast<double>(run.ops.size()) + left_out > most_ops_drawn) return std::nullopt;
  return simulate(run.scenario, engine, FoldRanks::yes, {}, FoldMicroBatches::no);
}

}  // namespace gradway
