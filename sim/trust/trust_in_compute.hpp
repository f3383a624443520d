// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/trust/provenance.hpp"

namespace gradway {

/// Adds what the compute times rest on: explicit times, a roofline and its anchor, or a profile, and how far
/// that was stretched.
void about_compute(const Scenario& scenario, const ComputeCosts& costs, Provenance& provenance);

}  // namespace gradway
