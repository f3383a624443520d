// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/nccl/communicator.hpp"

namespace gradway {

/// Whose rates count: those of the platform that was measured, or those that a what-if gives it.
enum class Rates { as_built, sped_up };

/// Makes a collective take a measured time when nothing else uses its links: the measured rate becomes the
/// cap of its flows. The latency stays unless it is nearly all of that time. Where the links could not carry
/// all bytes so fast, fewer are carried: the rest never reached them (buffers of some MB in host memory are
/// served from the caches of the CPU).
/// @pre the flows are equal in amount
void take_time(LoweredCollective& lowered, Seconds time, const Platform& platform, Rates rates);

/// How long a collective takes when nothing else uses its links, what-if included. @pre the flows are equal
/// in amount
Seconds time_alone(const LoweredCollective& lowered, const Platform& platform);

/// Makes a collective whose bytes take the links less than a thousandth of its latency a matter of time
/// alone: nobody meets it there. Ranks whose place in NCCL's trees only such ones tell apart then do the
/// same.
/// @pre the flows end together when nothing else uses their links
void take_no_links_if_tiny(LoweredCollective& lowered, const Platform& platform);

}  // namespace gradway
