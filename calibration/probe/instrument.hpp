// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "calibration/harness/context.hpp"

namespace gradway::probe {

/// Measures kernels of known length and emits what came out: the test of the instrument on this very GPU.
/// @throws Failure if one is off by more than 2 % and more than 2 us: no other row would mean anything
void probe_instrument(Context& context);

}  // namespace gradway::probe
