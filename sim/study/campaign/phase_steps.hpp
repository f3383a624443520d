// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/campaign/over_time.hpp"
#include "sim/run/simulate.hpp"

namespace gradway {

/// Simulates the step of each phase of a campaign under each of its conditions. With a batch rule, each gets
/// the smallest batch that hides the exchange of its gradients: the batch doubles in memory as long as it
/// surely fits, then by accumulation.
/// @param run of the step as the scenario has it
/// @return empty if all steps of the campaign are alike and their number is given
std::vector<PhaseSteps> phase_steps(const Run& run, int threads);

}  // namespace gradway
