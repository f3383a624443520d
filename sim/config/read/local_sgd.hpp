// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/read/read.hpp"

namespace gradway::config {

/// The keys of workers that seldom meet. Where the strategy is of another kind they are refused.
/// @param is_local_sgd what strategy.kind says
void read_local_sgd(Reader& strategy, bool is_local_sgd, ScenarioSpec& spec);

}  // namespace gradway::config
