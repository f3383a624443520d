// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/nccl/communicator.hpp"

namespace gradway {

/// Rates of the platform as built, or with its what-if speeds.
enum class Rates { as_built, sped_up };

/// Sets the time of a collective that runs alone to a measured time: the measured rate becomes the cap of its
/// flows. The latency stays unless it is nearly all of that time. If the links cannot carry all bytes in the
/// time, the flows carry fewer: the rest does not reach them (buffers of some MB in host memory are served
/// from the CPU's caches).
/// @pre the flows are equal in amount
void take_time(LoweredCollective& lowered, Seconds time, const Platform& platform, Rates rates);

/// Time of a collective that runs alone, with what-if speeds. @pre the flows are equal in amount
Seconds time_alone(const LoweredCollective& lowered, const Platform& platform);

/// Replaces the flows of a collective by their time if they use the links for less than a thousandth of its
/// latency, where they contend with nothing. Ranks that differ only by such collectives in NCCL's trees can
/// then be folded.
/// @pre the flows end at the same time if nothing else uses their links
void drop_negligible_flows(LoweredCollective& lowered, const Platform& platform);

}  // namespace gradway
