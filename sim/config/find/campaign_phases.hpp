// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/config/config.hpp"

namespace gradway::config {

/// A part of a campaign, and the keys of its step under each condition: hours of the day by tiers of storage.
struct PhaseOverrides {
  std::optional<double> until{};  ///< tokens or samples; empty: the end of the campaign
  std::vector<std::vector<Override>> steps{};
};

/// @param overrides of the scenario @pre its campaign has phases
std::vector<PhaseOverrides> phase_overrides(const Scenario& scenario, const std::vector<Override>& overrides);

}  // namespace gradway::config
