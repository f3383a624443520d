// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "sim/import/topology/topology_matrix.hpp"

namespace gradway {

using DeviceGroups = std::vector<std::size_t>;  ///< for each device the first one of its group

/// Devices that are connected by `furthest` or better over PCIe, through others as well.
DeviceGroups groups_within(const TopologyMatrix& matrix, PathType furthest);

/// Which socket a device hangs on, and with which others it does so without a link like that between sockets.
/// A socket and an island are told by the first device on them.
class NodeSockets {
 public:
  /// @param matrix must outlive this.
  explicit NodeSockets(const TopologyMatrix& matrix);

  std::size_t socket(std::size_t device) const { return socket_.at(near_[device]); }
  /// The devices of a socket that are not SYS to each other.
  std::size_t island(std::size_t device) const { return island_.at(near_[device]); }
  /// Does the device's socket have several islands?
  bool is_split(std::size_t device) const;
  /// The NUMA node of the device's socket, if the matrix knows that of all GPUs.
  std::optional<int> numa_node(std::size_t device) const { return numa_of(near_[device]); }

 private:
  bool has_gpus(std::size_t group) const;
  std::optional<int> numa_of(std::size_t group) const;
  bool share_socket(std::size_t one, std::size_t other) const;
  void place(std::size_t group);

  const TopologyMatrix& matrix_;
  bool knows_numa_;
  DeviceGroups near_;                                     ///< NODE or better
  std::set<std::pair<std::size_t, std::size_t>> far_;     ///< groups with devices that are SYS to each other
  std::set<std::pair<std::size_t, std::size_t>> linked_;  ///< ... that have NVLinks between them
  std::map<std::size_t, std::size_t> socket_;             ///< of a group, by the first group on it
  std::map<std::size_t, std::size_t> island_;
};

}  // namespace gradway
