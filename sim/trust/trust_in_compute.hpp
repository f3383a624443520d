// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/trust/trust.hpp"

namespace gradway {

/// Adds what the compute times rest on: explicit times, a roofline and its anchor, or a profile, and how far
/// that was stretched.
void about_compute(const Scenario& scenario, const ComputeCosts& costs, Trust& trust);

}  // namespace gradway
