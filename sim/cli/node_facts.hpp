// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/fit/node_facts.hpp"
#include "sim/platform/platform.hpp"
#include "sim/samples/samples.hpp"

namespace gradway::cli {

/// What a platform tells of the node that samples come from: what its GPU is, and for each transport and
/// number of ranks with samples taken side by side the channels that NCCL would take there. Those that the
/// platform does not have stay unknown.
NodeFacts node_facts(const Platform& platform, const Samples& samples);

}  // namespace gradway::cli
