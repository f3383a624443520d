// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/read/read.hpp"

namespace gradway::config {

/// Reads the maps `strategy` and `parallel` of a scenario, if they are there.
void read_strategy(Reader& scenario, ScenarioSpec& spec);

}  // namespace gradway::config
