// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/compute/rank_scenario.hpp"

namespace gradway {

/// CPU time of a pass over a rank's shard in host memory; empty if it is on the GPU.
/// @param traffic bytes read and written per element
std::optional<Seconds> host_pass_time(const RankScenario& scenario, Bytes traffic);

/// CPU time of the optimizer's step in host memory; empty if it runs on the GPU.
std::optional<Seconds> host_optimizer_time(const RankScenario& scenario);

}  // namespace gradway
