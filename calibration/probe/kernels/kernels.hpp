// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "calibration/harness/context.hpp"

namespace gradway::probe {

/// Measures kernels on the current GPU: products, memory-bound ones, optimizers, attention, launches. A
/// family that fails leaves a row of kind `failed`; the others are still measured.
void probe_kernels(Context& context);

}  // namespace gradway::probe
