// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/engine/timeline.hpp"
#include "sim/lower/lower.hpp"
#include "sim/metrics/metrics.hpp"
#include "sim/metrics/steps.hpp"

namespace gradway {

/// @return nothing where nobody loads
std::optional<Loading> measure_loading(const Workload& workload, const Platform& platform,
                                       const Lowered& lowered, const Timeline& timeline,
                                       const StepWindow& window);

/// AU as MLPerf Storage defines it: the share of a step in which accelerators do not wait for samples.
/// @source github.com/mlcommons/storage, Submission_guidelines.md
double accelerator_utilisation(const Metrics& metrics);

/// Whether an op is the end of a take of a program: it stands behind the moment at which the program came to
/// it.
bool is_taken(const OpGraph& ops, std::size_t op, const Program& program);

}  // namespace gradway
