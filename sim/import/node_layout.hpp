// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/import/topology_matrix.hpp"
#include "sim/platform/platform.hpp"

namespace gradway {

/// A part of a node's PCIe tree and what it hangs on.
struct LayoutPart {
  std::string name;  ///< cpu0, rc0, plx0, gpu0; a NIC's own
  DeviceKind kind = DeviceKind::gpu;
  std::optional<std::size_t> parent;  ///< none: a socket, or a NIC that no GPU is near to
  std::optional<int> numa_node;       ///< of a socket, if known
};

/// NVLinks straight between two GPUs.
struct NvlinkPair {
  std::size_t one = 0;
  std::size_t other = 0;
  int count = 0;
};

/// How the parts of a node hang together, without rates.
struct NodeLayout {
  std::vector<LayoutPart> parts;  ///< GPUs first, in their order; then NICs; then the parts above them
  std::size_t gpus = 0;
  std::size_t nics = 0;
  std::vector<NvlinkPair> pairs;     ///< empty: no NVLinks, or an NVSwitch
  int switched = 0;                  ///< NVLinks of each GPU into an NVSwitch; 0: there is none
  std::vector<std::string> remarks;  ///< what the matrix shows and this cannot say

  /// The parts above a device, nearest first.
  std::vector<std::size_t> above(std::size_t device) const;
  /// @pre all devices hang on one
  std::size_t socket_of(std::size_t device) const { return above(device).back(); }
};

/// What is known of a node's NVLinks beside the matrix.
struct NvlinkFacts {
  std::optional<int> of_each_gpu;  ///< all links of a GPU
  bool has_switch = false;         ///< something names an NVSwitch; else its links and pairs tell
};

/// The parts of a node from what its matrix says. Devices that are PIX to each other hang on one PCIe switch,
/// those that are PXB on switches under a common one, those that are PHB on one root complex. Sockets are
/// NUMA nodes, where the matrix knows those of all GPUs; else GPUs that are SYS to each other stand on
/// different ones. What two GPUs with NVLinks between them are over PCIe follows from the NICs that both are
/// near to.
///
/// NVLinks: an NVSwitch if one is known, or if all pairs of three or more GPUs are alike and a GPU's links
/// are not the sum of its pairs' (a full mesh).
/// @source the legend of `nvidia-smi topo -m`; reference/topo.md
NodeLayout lay_out(const TopologyMatrix& matrix, const NvlinkFacts& nvlinks);

}  // namespace gradway
