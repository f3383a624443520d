// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/graph/workload_graph.hpp"
#include "sim/platform/gpu.hpp"

namespace gradway {

/// How a GPU reaches the next one of a ring or tree, as NCCL names it.
enum class Transport { none, p2p, shm, net };

/// One measured collective. Its bus bandwidth replaces NCCL's nominal one for the same transport.
struct CollectiveSample {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Transport transport = Transport::shm;
  int ranks = 0;
  Bytes size{};  ///< the buffer on each rank (all-gather, reduce-scatter: the large one)
  Seconds time{};
  std::string source;
};

/// What kernels and collectives on one GPU cost each other while they run side by side.
struct SideBySide {
  Transport transport = Transport::p2p;   ///< of the collectives
  Precision precision = Precision::fp32;  ///< of the kernels
  double kernel_slowdown = 1;
  double collective_slowdown = 1;  ///< of what the collective's own SMs can move; not of a shared link's rate
  std::string measured_on;         ///< another node, if it was not this one
  std::string source;
};

/// Measured facts about one node, which replace first principles where they exist.
struct Calibration {
  std::string name;
  std::string source;
  std::string date;
  std::vector<CollectiveSample> collectives;
  std::vector<SideBySide> side_by_side;
};

}  // namespace gradway
