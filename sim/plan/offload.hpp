// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/compute/rank_scenario.hpp"

namespace gradway {

/// What a rank's CPU takes for a pass over its shares that are in host memory; empty: they are on the GPU.
/// @param traffic read and written of each element
std::optional<Seconds> host_pass_time(const RankScenario& scenario, Bytes traffic);

/// The same of the optimizer's step.
std::optional<Seconds> host_optimizer_time(const RankScenario& scenario);

}  // namespace gradway
