// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "calibration/harness/context.hpp"

namespace gradway::probe {

/// Measures copies alone: by size over the first GPU (and to its neighbour), and large ones over every GPU
/// and pair.
/// @source the sizes above which a copy's bandwidth does not grow are below 64 MiB on all PCIe generations
void probe_copies(Context& context);

/// Measures concurrent copies: all GPUs one way and both ways, rings, pairs, fan-in, fan-out, all to all.
void probe_patterns(Context& context);

}  // namespace gradway::probe
