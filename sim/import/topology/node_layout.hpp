// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/platform/platform.hpp"
#include "sim/platform/routes.hpp"

namespace gradway {

/// A part of a node's PCIe tree and what it hangs on.
struct LayoutPart {
  std::string name;  ///< cpu0, rc0, plx0, gpu0; a NIC's own
  DeviceKind kind = DeviceKind::gpu;
  std::optional<std::size_t> parent;  ///< none: a socket
  std::optional<int> numa_node;       ///< of a socket, if known
  bool is_across = false;  ///< a root complex that reaches its socket over a link like that between sockets
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

  /// The parts above one, nearest first.
  std::vector<std::size_t> above(std::size_t part) const;
  std::size_t socket_of(std::size_t device) const { return above(device).back(); }
  /// The GPUs that hang on a part, in their order.
  std::vector<int> gpus_below(std::size_t part) const;
  /// The parts of a kind, in the order of their names.
  std::vector<std::size_t> of_kind(DeviceKind kind) const;
  const std::string& name(std::size_t part) const { return parts[part].name; }
};

/// A name for a NIC that a platform file and its patterns of names take, and that no part has.
std::string nic_name(const std::string& name, const std::set<std::string>& taken);

/// The layout without the NICs, and without what only they hang on.
NodeLayout without_nics(const NodeLayout& layout);

/// How near two devices of a layout are over PCIe, as `nvidia-smi topo -m` would show it.
PathType type_in_tree(const NodeLayout& layout, std::size_t one, std::size_t other);

}  // namespace gradway
