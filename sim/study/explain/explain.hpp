// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/campaign/local_sgd.hpp"
#include "sim/run/simulate.hpp"
#include "sim/study/explain/exposed_calls.hpp"
#include "sim/study/explain/overlap.hpp"

namespace gradway {

/// As good as infinitely fast: a step of a day would shrink to less than the latency of one collective.
inline constexpr double practically_infinite = 1e9;

/// A gain below this share of the step is no help.
inline constexpr double least_gain = 0.01;

/// What a step would take if something were otherwise.
struct Counterfactual {
  std::string name;                                      ///< "host_memory_2x"; unique
  std::string words;                                     ///< "host memory twice as fast"
  std::vector<std::pair<std::string, std::string>> set;  ///< the scenario's keys that give it; empty: a bound
  Seconds step_time{};

  bool bound() const { return set.empty(); }
  /// Share of the step that it takes away; negative if the step gets longer.
  double gain(Seconds step) const { return (step - step_time) / step; }
};

/// How much longer kernels take on the slow GPU that `explain` asks for: the least that monitors of
/// production jobs call a straggler (GREYHOUND, ATC 2025: 10 % of an iteration).
inline constexpr double slow_gpu_factor = 1.1;

/// What bounds a step, and what would help.
struct Explanation {
  Run run;
  std::vector<std::string> evidence{};    ///< that supports the bottleneck
  std::vector<ExposedCalls> exposed{};    ///< collectives that nothing hides
  std::vector<Counterfactual> helps{};    ///< the greatest gain first
  std::vector<Counterfactual> no_help{};  ///< less than `least_gain` either way, in the same order
  std::optional<OuterLoop> outer{};       ///< of workers that meet now and then
  std::vector<Counterfactual> outer_changes{};  ///< the mean step of these with one thing changed, the best first
  std::optional<Counterfactual> slow_gpu{};  ///< one of several GPUs is slow: what that costs
};

/// Simulates the scenario, then again with each part of the hardware that the step uses twice as fast, with
/// its links and host memory practically infinitely fast, with launches that practically cost nothing; and
/// the bound of perfect overlap (Overlap); a
/// strategy that shards, with each of its settings changed. What the scenario itself makes faster is
/// multiplied.
///
/// Each but the bound is what `simulate` gives of the scenario with its `set`.
/// @param engine "auto" or a name from engines()
/// @param threads at once, at least 1
Explanation explain(const Scenario& scenario, std::string_view engine, int threads);

}  // namespace gradway
