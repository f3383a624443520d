// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "calibration/harness/context.hpp"

namespace gradway::probe {

/// Measures kernels of known duration and emits the results, to test the instrument on this GPU.
/// @throws Failure if one is off by more than 2 % and more than 2 us: no other row would be reliable
void probe_instrument(Context& context);

}  // namespace gradway::probe
