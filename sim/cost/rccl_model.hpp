// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/cost/nccl_model.hpp"

namespace gradway {

// RCCL is AMD's NCCL. It has rings and trees with the protocols LL and Simple: no NVLS, since nothing reduces
// inside XGMI, and by default no LL128 on gfx94 and gfx95. It chooses with its own table of rates and
// latencies.
// @source github.com/ROCm/rccl at 0cbce2a7 (2.21), src/graph/tuning.cc (tuning_model_5, which
//         src/graph/rome_models.cc selects for 8 MI300X). Assumed for gfx95, too

/// RCCL's nominal rate of an XGMI link, per direction. @source the same, src/graph/topo.h (GFX94X_XGMI_WIDTH)
inline constexpr auto rccl_xgmi_rate = 48_GBps;

/// Whether RCCL considers a ring or tree with this protocol. A single node has no trees with Simple.
bool rccl_has(Algorithm algorithm, Protocol protocol, const CommunicatorFacts& communicator);

/// Channels for all rings together: four for each ring of a node, eight for each NIC's of several nodes.
/// @source the same, src/graph/rome_models.cc: 28 rings for the 7 links of a GPU (model 79), 64 for 8 NICs
///         (model 81)
Channels rccl_channels(const CommunicatorFacts& communicator, const NcclSettings& settings);

/// GB/s of bus bandwidth of a ring or tree, before halving. Rings and trees with Simple reach the rate of
/// their links; LL the share that RCCL's table gives it.
double rccl_bus(Algorithm algorithm, Protocol protocol, const CommunicatorFacts& communicator);

/// Latency by RCCL's table. A ring's Simple hop between nodes takes as long as a tree's: the table has 320 us
/// for it, which keeps small buffers from rings (assumed; a tree's is 25 us over the same NICs).
Seconds rccl_latency(Algorithm algorithm, CollectiveKind kind, Protocol protocol,
                     const CommunicatorFacts& communicator);

/// RCCL's own estimate, by which it chooses: with the latency of the table, and with corrections by size.
Seconds rccl_estimate(const CollectivePlan& plan, CollectiveKind kind, Bytes size,
                      const CommunicatorFacts& communicator);

}  // namespace gradway
