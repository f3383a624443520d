// SPDX-License-Identifier: Apache-2.0
#include "readers/topology/node_sockets.hpp"

#include <algorithm>
#include <numeric>

namespace gradway {

namespace {

/// Groups of devices that connections of some types join, also through other devices.
template <class Joins>
DeviceGroups joined_groups(const TopologyMatrix& matrix, const Joins& joins) {
  DeviceGroups group(matrix.size());
  std::iota(group.begin(), group.end(), std::size_t{0});
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    for (std::size_t j = i + 1; j < matrix.size(); ++j) {
      if (!joins(matrix.cells[i][j].type) || group[i] == group[j]) continue;
      const auto [first, second] = std::minmax(group[i], group[j]);
      std::ranges::replace(group, std::size_t{second}, std::size_t{first});
    }
  }
  return group;
}

}  // namespace

DeviceGroups groups_within(const TopologyMatrix& matrix, PathType furthest) {
  return joined_groups(matrix, [&](PathType type) { return type != PathType::nvlink && type <= furthest; });
}

DeviceGroups groups_over_nvlinks(const TopologyMatrix& matrix) {
  return joined_groups(matrix, [](PathType type) { return type == PathType::nvlink; });
}

NodeSockets::NodeSockets(const TopologyMatrix& matrix)
    : matrix_{matrix},
      knows_numa_{std::ranges::all_of(matrix.numa_nodes, [](const auto& numa) { return numa.has_value(); })},
      near_{groups_within(matrix, PathType::node)} {
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    for (std::size_t j = 0; j < matrix.size(); ++j) {
      const auto type = matrix.cells[i][j].type;
      if (type == PathType::sys) far_.emplace(near_[i], near_[j]);
      if (type == PathType::nvlink) linked_.emplace(near_[i], near_[j]);
    }
  }
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    if (near_[i] == i) place(i);
  }
}

bool NodeSockets::is_split(std::size_t device) const {
  return is_assumed(device) || std::ranges::any_of(island_, [&](const auto& entry) {
           return socket_.at(entry.first) == socket(device) && entry.second != island(device) &&
                  !assumed_.contains(entry.first);
         });
}

bool NodeSockets::has_gpus(std::size_t group) const {
  const auto end = near_.begin() + static_cast<std::ptrdiff_t>(matrix_.gpus);
  return std::find(near_.begin(), end, group) != end;
}

std::optional<int> NodeSockets::numa_of(std::size_t group) const {
  for (std::size_t gpu = 0; gpu < matrix_.gpus; ++gpu) {
    if (knows_numa_ && near_[gpu] == group) return matrix_.numa_nodes[gpu];
  }
  return std::nullopt;
}

/// Whether both groups share a socket according to their NUMA nodes, or if unknown according to NVLinks
/// without any SYS connection.
bool NodeSockets::share_socket(std::size_t group, std::size_t neighbour) const {
  if (knows_numa_) return has_gpus(group) && has_gpus(neighbour) && numa_of(group) == numa_of(neighbour);
  return linked_.contains({group, neighbour}) && !far_.contains({group, neighbour});
}

void NodeSockets::place(std::size_t group) {
  socket_[group] = island_[group] = group;
  for (const auto& [other, socket] : socket_) {
    if (other == group || !share_socket(group, other)) continue;
    socket_[group] = socket;
    break;
  }
  // A NIC alone does not make a third CPU.
  constexpr std::size_t cpus_of_a_server = 2;
  std::set<std::size_t> sockets;
  for (const auto& [other, socket] : socket_) {
    if (other != group) sockets.insert(socket);
  }
  if (socket_[group] == group && !has_gpus(group) && sockets.size() >= cpus_of_a_server) {
    socket_[group] = *sockets.rbegin();
    assumed_.insert(group);
  }
  for (const auto& [other, island] : island_) {
    if (other == group || socket_[other] != socket_[group]) continue;
    const bool is_far = std::ranges::any_of(island_, [&](const auto& entry) {
      return entry.second == island && entry.first != group && far_.contains({entry.first, group});
    });
    if (is_far) continue;
    island_[group] = island;
    break;
  }
}

}  // namespace gradway
