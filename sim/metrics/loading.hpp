// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/engine/timeline.hpp"
#include "sim/lower/lower.hpp"
#include "sim/metrics/metrics.hpp"
#include "sim/metrics/steps.hpp"
#include "sim/scenario/job.hpp"

namespace gradway {

/// @return nothing where nobody loads
std::optional<Loading> measure_loading(const Workload& workload, const Platform& platform,
                                       const Lowered& lowered, const Timeline& timeline,
                                       const StepWindow& window);

/// Adds what an epoch takes beside its steps. Nothing is made ahead over its border, so its first batch is
/// waited for. Where all other steps wait, too, workers that began together end so: W batches come at once
/// and are worked off one by one. An epoch that was simulated whole tells it by itself.
/// @param metrics with the parts of its step and its loading, without a start of workers yet
void add_epoch(Metrics& metrics, const InputSettings& input, const Workload& workload,
               const StepWindow& window);

/// From the start of an epoch to the end of its last step.
Seconds epoch_time(const Metrics& metrics, const Loading& loading);

/// AU as MLPerf Storage defines it: the share of a step in which accelerators do not wait for samples.
/// @source github.com/mlcommons/storage, Submission_guidelines.md
double accelerator_utilisation(const Metrics& metrics);

/// Whether an op is the end of a take of a program: it stands behind the moment at which the program came to
/// it.
bool is_taken(const OpGraph& ops, std::size_t op, const Program& program);

}  // namespace gradway
