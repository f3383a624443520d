// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/cost/nccl_model.hpp"

namespace gradway {

/// Connections of a communicator, which NCCL makes when a collective first needs them.
/// @source NCCL 2.28.9, src/enqueue.cc (runtimeConn)
struct Connections {
  bool rings = false;
  bool trees = false;
  bool nvls = false;   ///< through switches that reduce
  bool pairs = false;  ///< of all-to-alls, sends and receives

  bool any() const { return rings || trees || nvls || pairs; }
  void add(const Connections& others);
};

/// Connections of a collective that runs by this algorithm.
Connections connections_of(CollectiveKind kind, Algorithm algorithm);

/// Memory that a communicator takes on a GPU for its channels and connections.
/// @param channels of a large all-reduce
/// @param reaches_gpus whether NICs write into the memory of GPUs
Bytes memory_of(const Connections& connections, const CommunicatorFacts& communicator,
                const NcclSettings& settings, int channels, bool reaches_gpus);

/// NCCL's code on a GPU, which all communicators share.
Bytes code_of(const Connections& connections);

}  // namespace gradway
