// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "readers/topology/topology_matrix.hpp"

namespace gradway {

using DeviceGroups = std::vector<std::size_t>;  ///< For each device, the first device of its group.

/// Groups of devices that are connected over PCIe by `furthest` or better, also through other devices.
DeviceGroups groups_within(const TopologyMatrix& matrix, PathType furthest);

/// Groups of GPUs that NVLinks join, also through others of the group.
DeviceGroups groups_over_nvlinks(const TopologyMatrix& matrix);

/// The socket of each device, and its island: the devices of the socket that it reaches without a link like
/// those between sockets. Sockets and islands are identified by their first device.
class NodeSockets {
 public:
  /// @param matrix must outlive this.
  explicit NodeSockets(const TopologyMatrix& matrix);

  std::size_t socket(std::size_t device) const { return socket_.at(near_[device]); }
  /// The island of a device: devices of a socket that are not SYS to each other.
  std::size_t island(std::size_t device) const { return island_.at(near_[device]); }
  /// Whether the socket of a NIC is assumed, since it is SYS to all GPUs of a node with GPUs on two sockets.
  bool is_assumed(std::size_t device) const { return assumed_.contains(near_[device]); }
  /// Whether the device's socket has several islands.
  bool is_split(std::size_t device) const;
  /// The NUMA node of the device's socket, if the matrix has that of all GPUs.
  std::optional<int> numa_node(std::size_t device) const { return numa_of(near_[device]); }

 private:
  bool has_gpus(std::size_t group) const;
  std::optional<int> numa_of(std::size_t group) const;
  bool share_socket(std::size_t group, std::size_t neighbour) const;
  void place(std::size_t group);

  const TopologyMatrix& matrix_;
  bool knows_numa_;
  DeviceGroups near_;  ///< Groups connected by NODE or better.
  /// Pairs of groups with devices that are SYS to each other.
  std::set<std::pair<std::size_t, std::size_t>> far_;
  std::set<std::pair<std::size_t, std::size_t>> linked_;  ///< Pairs of groups with NVLinks between them.
  std::map<std::size_t, std::size_t> socket_;             ///< Socket of each group, by the first group on it.
  std::map<std::size_t, std::size_t> island_;
  std::set<std::size_t> assumed_;  ///< Groups whose socket is assumed.
};

}  // namespace gradway
