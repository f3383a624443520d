// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sim/scenario/scenario.hpp"

namespace gradway {

/// The anchor that a measured step of the scenario would be for its model. None if the step cannot be an
/// anchor: several GPUs, a strategy, accumulation, what-if speeds, or a model whose times are not scaled.
std::optional<Anchor> proposed_anchor(const Scenario& scenario, Seconds measured, const std::string& source);

/// Whether compute is scaled to a measured step of this very job, so that its prediction only reproduces the
/// measurement.
bool meets_given_step(const Scenario& scenario);

}  // namespace gradway
