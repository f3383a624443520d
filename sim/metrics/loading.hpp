// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/engine/timeline.hpp"
#include "sim/lower/lower.hpp"
#include "sim/metrics/metrics.hpp"
#include "sim/metrics/steps.hpp"
#include "sim/scenario/job.hpp"

namespace gradway {

/// @return empty if the job has no loaders
std::optional<Loading> measure_loading(const Workload& workload, const Platform& platform,
                                       const Lowered& lowered, const Timeline& timeline,
                                       const StepWindow& window);

/// Adds the time of an epoch that is not in its steps. No batch is made before the epoch starts, so ranks
/// wait for the first one. If all other steps wait, too, workers that start together end together: W batches
/// arrive at once and are consumed one by one. If the whole epoch was simulated, its own time is used.
/// @param metrics with the parts of the step and its loading, without the start of workers
void add_epoch(Metrics& metrics, const InputSettings& input, const Workload& workload,
               const StepWindow& window);

/// Time from the start of an epoch to the end of its last step.
Seconds epoch_time(const Metrics& metrics, const Loading& loading);

/// AU as MLPerf Storage defines it: the share of a step in which accelerators do not wait for samples.
/// @source github.com/mlcommons/storage, Submission_guidelines.md
double accelerator_utilisation(const Metrics& metrics);

/// Whether an op ends a take of a program; the op before it marks the arrival of the program there.
bool ends_take(const OpGraph& ops, std::size_t op, const Program& program);

}  // namespace gradway
