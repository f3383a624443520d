// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/config/config.hpp"
#include "sim/config/yaml/node.hpp"
#include "sim/config/yaml/problems.hpp"

namespace gradway::config {

/// Puts the values in place of what stands in the scenario, in order: a later one wins.
/// A value's place becomes that of its override, so what is wrong with it is reported there. Setting the kind
/// of strategy, or the hook, takes away what the file says about the old one.
void apply_overrides(Node& scenario, const std::vector<Override>& overrides, Problems& problems);

}  // namespace gradway::config
