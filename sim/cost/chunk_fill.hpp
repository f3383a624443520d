// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/cost/nccl_model.hpp"

namespace gradway {

/// What a plan takes beyond its rate and latency, because a chunk is passed on only when it is complete: the
/// last one needs all further steps. NVLS copies to its buffers, reduces, multicasts and copies from them, in
/// chunks of at most 128 KiB a channel and head (GPU that reduces); NVLSTree also sends each up and down a
/// tree of nodes; a tree with Simple passes an eighth of a channel's buffer along all GPUs of a node. Rings
/// are always full; LL and LL128 pass on single lines; trees of one node are not modelled.
/// @source NCCL 2.28.9, src/enqueue.cc (calcCollChunking), src/transport/nvls.cc, src/device/all_reduce.h
Seconds fill_of(const CollectivePlan& plan, Bytes size, const CommunicatorFacts& communicator,
                const NcclSettings& settings);

}  // namespace gradway
