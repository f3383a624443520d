// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sim/scenario/scenario.hpp"

namespace gradway {

/// A measured step of the scenario as an anchor of its model. Nothing if it cannot be one: more than one GPU,
/// a strategy, accumulation, a model that needs none, or hardware that was only imagined.
std::optional<Anchor> proposed_anchor(const Scenario& scenario, Seconds measured, const std::string& source);

/// Whether compute was made to meet a measured step of this very job: what a prediction of it says was given.
bool meets_given_step(const Scenario& scenario);

}  // namespace gradway
