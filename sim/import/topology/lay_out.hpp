// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/import/topology/node_layout.hpp"
#include "sim/import/topology/topology_matrix.hpp"

namespace gradway {

/// Facts about a node's NVLinks that the matrix does not show.
struct NvlinkFacts {
  std::optional<int> of_each_gpu;  ///< number of links of a GPU, to whichever end
  bool has_switch = false;  ///< the source names an NVSwitch; if false, it is inferred from links and pairs
};

/// Infers the parts of a node from its matrix. Devices that are PIX to each other are attached to one PCIe
/// switch, PXB to switches under a common one, PHB to one root complex, NODE to one socket. Where the matrix
/// shows NVLinks only, sockets follow from NUMA nodes and from near NICs. Devices of one NUMA node that are
/// SYS to each other stay on its socket, but reach it across a link like the one between sockets.
///
/// There is an NVSwitch if the source names one, or if all pairs of three or more GPUs have the same number
/// of NVLinks and a GPU has not as many links as its pairs together (which would be a full mesh).
/// @source the legend of `nvidia-smi topo -m`
NodeLayout node_layout(const TopologyMatrix& matrix, const NvlinkFacts& nvlinks);

}  // namespace gradway
