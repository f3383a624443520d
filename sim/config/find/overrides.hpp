// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/config/config.hpp"
#include "sim/config/yaml/node.hpp"
#include "sim/config/yaml/problems.hpp"

namespace gradway::config {

/// Replaces values of the scenario in order; a later override wins. The place of a value becomes that of its
/// override. Setting the kind of strategy or the hook removes the file's keys of the old one.
void apply_overrides(Node& scenario, const std::vector<Override>& overrides, Problems& problems);

}  // namespace gradway::config
