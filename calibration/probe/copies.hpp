// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "calibration/harness/context.hpp"

namespace gradway::probe {

/// Copies alone: by size over the first GPU (and to its neighbour), and large ones over every GPU and pair.
/// @source the sizes from which a copy's bandwidth no longer grows lie below 64 MiB on all PCIe generations
void probe_copies(Context& context);

/// Copies at the same time: all GPUs one way and both ways, rings, pairs, fan-in, fan-out, all to all.
void probe_patterns(Context& context);

}  // namespace gradway::probe
