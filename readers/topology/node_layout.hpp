// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "readers/topology/topology_matrix.hpp"
#include "sim/platform/platform.hpp"
#include "sim/platform/routes.hpp"

namespace gradway {

/// A part of a node's PCIe tree, with its parent.
struct LayoutPart {
  std::string name;  ///< Such as cpu0, rc0, plx0 or gpu0; a NIC has its own name.
  DeviceKind kind = DeviceKind::gpu;
  std::optional<std::size_t> parent;  ///< Empty for a socket.
  std::optional<int> numa_node;       ///< NUMA node of a socket, if known.
  bool is_across = false;  ///< A root complex that reaches its socket over a link like those between sockets.
};

/// Direct NVLinks between two GPUs.
struct NvlinkPair {
  std::size_t one = 0;
  std::size_t other = 0;
  int count = 0;
};

/// NVLinks from a GPU to an NVSwitch.
struct SwitchedGpu {
  std::size_t gpu = 0;
  int links = 0;
  std::string nvswitch;  ///< Its name: GPUs of boards that no NVLink joins have switches of their own.
};

/// The topology of a node, without rates.
struct NodeLayout {
  std::vector<LayoutPart> parts;  ///< GPUs in order, then NICs, then their parents.
  std::size_t gpus = 0;
  std::size_t nics = 0;
  std::vector<NvlinkPair> pairs;      ///< Of GPUs that are not behind an NVSwitch.
  std::vector<SwitchedGpu> switched;  ///< In order of GPUs.
  std::vector<std::string> remarks;   ///< Facts of the matrix that a layout cannot express.

  /// The ancestors of a part, nearest first.
  std::vector<std::size_t> above(std::size_t part) const;
  std::size_t socket_of(std::size_t device) const { return above(device).back(); }
  /// The GPUs below a part, in order.
  std::vector<int> gpus_below(std::size_t part) const;
  /// The parts of a kind, ordered by name.
  std::vector<std::size_t> of_kind(DeviceKind kind) const;
  const std::string& name(std::size_t part) const { return parts[part].name; }
};

/// A name for a NIC that is valid in a platform file and its name patterns, and is not in `taken`.
std::string nic_name(const std::string& name, const std::set<std::string>& taken);

/// The layout without NICs, and without parts above NICs only.
NodeLayout without_nics(const NodeLayout& layout);

/// Type of the PCIe path between two devices of a layout, as `nvidia-smi topo -m` would show it.
PathType type_in_tree(const NodeLayout& layout, std::size_t device, std::size_t peer);

/// Facts about a node's NVLinks that the matrix does not show.
struct NvlinkFacts {
  std::optional<int> of_each_gpu;  ///< Number of links of a GPU, to any other end.
  bool has_switch = false;  ///< The source names an NVSwitch; if false, it is inferred from links and pairs.
};

/// Infers the parts of a node from its matrix. Devices that are PIX to each other are attached to one PCIe
/// switch, PXB to switches under a common one, PHB to one root complex, NODE to one socket. If the matrix
/// only shows NVLinks, sockets follow from NUMA nodes and from near NICs. Devices of one NUMA node that are
/// SYS to each other stay on its socket, but reach it over a link like the one between sockets.
///
/// There is an NVSwitch if the source names one, or if all pairs of three or more GPUs have the same number
/// of NVLinks and that number is not the number of links of a GPU divided by its peers (which would be a full
/// mesh). Of GPUs that NVLinks join while others of the node have none or are joined among themselves, it is
/// inferred if a GPU's links to all of them are more than it has.
/// @source the legend of `nvidia-smi topo -m`
NodeLayout node_layout(const TopologyMatrix& matrix, const NvlinkFacts& nvlinks);

}  // namespace gradway
