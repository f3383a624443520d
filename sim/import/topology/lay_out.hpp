// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/import/topology/node_layout.hpp"
#include "sim/import/topology/topology_matrix.hpp"

namespace gradway {

/// What is known of a node's NVLinks beside the matrix.
struct NvlinkFacts {
  std::optional<int> of_each_gpu;  ///< all links of a GPU
  bool has_switch = false;         ///< something names an NVSwitch; else its links and pairs tell
};

/// The parts of a node from what its matrix says. Devices that are PIX to each other hang on one PCIe switch,
/// those that are PXB on switches under a common one, those that are PHB on one root complex, those that are
/// NODE on one socket. Where only NVLinks are shown, NUMA nodes tell the sockets, and NICs that are near.
/// Devices of one NUMA node that are SYS to each other stay on its socket, but reach it across a link like
/// that between sockets.
///
/// NVLinks: an NVSwitch if one is known, or if all pairs of three or more GPUs are alike and a GPU's links
/// are not the sum of its pairs' (a full mesh).
/// @source the legend of `nvidia-smi topo -m`
NodeLayout lay_out(const TopologyMatrix& matrix, const NvlinkFacts& nvlinks);

}  // namespace gradway
