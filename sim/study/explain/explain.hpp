// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/campaign/local_sgd.hpp"
#include "sim/run/simulate.hpp"

namespace gradway {

/// A speed-up that stands for infinitely fast: it shrinks a step of a day below the latency of a collective.
inline constexpr double practically_infinite = 1e9;

/// A gain below this share of the step is listed as no help.
inline constexpr double least_gain = 0.01;

/// The step time with one thing changed.
struct Counterfactual {
  std::string name;                                      ///< "host_memory_2x"; unique
  std::string words;                                     ///< "host memory twice as fast"
  std::vector<std::pair<std::string, std::string>> set;  ///< the keys to change; empty: a bound
  Seconds step_time{};

  bool bound() const { return set.empty(); }
  /// Share of the step that the change saves; negative if the step gets longer.
  double gain(Seconds step) const { return (step - step_time) / step; }
};

/// Slowdown of the kernels on the straggler that `explain` simulates: the smallest that monitors of
/// production jobs call a straggler (GREYHOUND, ATC 2025: 10 % of an iteration).
inline constexpr double slow_gpu_factor = 1.1;

/// Why the input of a collective was not ready earlier, or why the collective did not start at once.
enum class ExposureCause {
  communicator,  ///< it waited for the collective before it on its communicator
  step_start,    ///< it waited for nothing
  late_launch,   ///< the CPU launched it late
  optimizer,     ///< it sends what the optimizer of the step before writes
  dependency,    ///< its input waited for another task, such as the one that frees its buffer
  late_input     ///< its input was computed last, so that no kernel is left to hide it
};

/// The cause, and the kind of task that a collective waited for, where the cause is another task.
struct ExposureReason {
  ExposureCause cause = ExposureCause::step_start;
  std::string task{};

  auto operator<=>(const ExposureReason&) const = default;
};

/// Exposed collectives of one kind.
struct ExposedCalls {
  std::string name;  ///< "block all-gather", which includes those of all blocks
  int calls = 0;
  Seconds exposed{};   ///< time in which the GPU computes nothing
  ExposureReason why;  ///< for the largest part of this time
};

/// The exposed collectives of the first rank in the last reported step, the longest first. Kinds with less
/// than a thousandth of the step are left out.
std::vector<ExposedCalls> exposed_calls(const Run& run);

/// A step without its communication, and its communication without the step.
struct Overlap {
  Seconds without_collectives{};      ///< step time if each collective ended when it is ready to start
  Seconds collectives{};              ///< sum of the times of all collectives, each alone
  Seconds links{};                    ///< the same if only bandwidth limited them: no latencies, no channels
  std::optional<ChannelLimit> limit;  ///< of the largest collective; none without NCCL
  std::vector<std::string> basis;     ///< provenance of the collectives' rates

  /// A lower bound of the step time for any order of its work: the collectives queue on one communicator, and
  /// the rest takes its own time. Contention between the two is ignored.
  Seconds bound() const { return std::max(without_collectives, collectives); }
};

/// @param engine "auto" or a name from engines()
Overlap overlap_of(const Run& run, std::string_view engine);

/// What bounds a step, and what would help.
struct Explanation {
  Run run;
  std::vector<std::string> evidence{};  ///< facts that support the bottleneck
  std::vector<ExposedCalls> exposed{};
  std::vector<Counterfactual> helps{};    ///< the greatest gain first
  std::vector<Counterfactual> no_help{};  ///< those that change less than `least_gain`, in the same order
  std::optional<OuterLoop> outer{};       ///< of local SGD
  /// Changes to the outer loop and the mean step time with them, the best first.
  std::vector<Counterfactual> outer_changes{};
  std::optional<Counterfactual> slow_gpu{};  ///< one of several GPUs is a straggler
};

/// Simulates the scenario, then again with each part of the hardware that the step uses twice as fast, with
/// practically infinite links and host memory, with practically free launches, and with each setting of a
/// sharded strategy changed. It adds the bound of perfect overlap (Overlap). Speed-ups multiply those of the
/// scenario.
///
/// The step time of each counterfactual but the bound is that of `simulate` for the scenario with its `set`.
/// @param engine "auto" or a name from engines()
/// @param threads to use at a time, at least 1
Explanation explain(const Scenario& scenario, std::string_view engine, int threads);

}  // namespace gradway
