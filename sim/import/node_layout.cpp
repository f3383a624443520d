// SPDX-License-Identifier: Apache-2.0
#include "sim/import/node_layout.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "sim/base/contract.hpp"

namespace gradway {
namespace {

using Groups = std::vector<std::size_t>;  ///< for each device the first one of its group

/// Devices that are connected by `furthest` or better over PCIe, through others as well.
Groups groups_within(const TopologyMatrix& matrix, PathType furthest) {
  Groups group(matrix.size());
  std::iota(group.begin(), group.end(), std::size_t{0});
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    for (std::size_t j = i + 1; j < matrix.size(); ++j) {
      const auto type = matrix.cells[i][j].type;
      if (type == PathType::nvlink || type > furthest || group[i] == group[j]) continue;
      const auto [first, second] = std::minmax(group[i], group[j]);
      std::ranges::replace(group, std::size_t{second}, std::size_t{first});
    }
  }
  return group;
}

std::size_t members(const Groups& groups, std::size_t first) {
  return static_cast<std::size_t>(std::ranges::count(groups, first));
}

class Layout {
 public:
  Layout(const TopologyMatrix& matrix, const NvlinkFacts& nvlinks)
      : matrix_{matrix},
        nvlinks_{nvlinks},
        pix_{groups_within(matrix, PathType::pix)},
        pxb_{groups_within(matrix, PathType::pxb)},
        phb_{groups_within(matrix, PathType::phb)} {}

  NodeLayout make() {
    layout_.gpus = matrix_.gpus;
    layout_.nics = matrix_.nics.size();
    for (std::size_t i = 0; i < matrix_.gpus; ++i) add(DeviceKind::gpu, fmt::format("gpu{}", i), {});
    for (const auto& nic : matrix_.nics) add(DeviceKind::nic, nic, {});
    for (std::size_t i = 0; i < matrix_.gpus; ++i) hang_gpu(i);
    name_sockets();
    for (auto i = matrix_.gpus; i < matrix_.size(); ++i) hang_nic(i);
    add_nvlinks();
    compare();
    return std::move(layout_);
  }

 private:
  std::size_t add(DeviceKind kind, std::string name, std::optional<std::size_t> parent) {
    layout_.parts.push_back({std::move(name), kind, parent, {}});
    return layout_.parts.size() - 1;
  }

  bool knows_numa() const {
    return std::ranges::all_of(matrix_.numa_nodes, [](const auto& numa) { return numa.has_value(); });
  }

  /// What tells a socket from others: its NUMA node, or the first of its devices.
  std::size_t socket_key(std::size_t gpu) {
    if (knows_numa()) return static_cast<std::size_t>(*matrix_.numa_nodes[gpu]);
    if (not_sys_.empty()) {
      not_sys_ = groups_within(matrix_, PathType::node);
      for (std::size_t i = 0; i < matrix_.gpus; ++i) {  // nothing else tells where GPUs with NVLinks are
        for (std::size_t j = 0; j < i; ++j) {
          if (matrix_.cells[i][j].type != PathType::nvlink) continue;
          const auto [first, second] = std::minmax(not_sys_[i], not_sys_[j]);
          std::ranges::replace(not_sys_, std::size_t{second}, std::size_t{first});
        }
      }
    }
    return not_sys_[gpu];
  }

  /// The part of a group, made with what it hangs on at the first call.
  template <class Make>
  std::size_t part_of(std::map<std::size_t, std::size_t>& parts, std::size_t group, const Make& make) {
    const auto found = parts.find(group);
    if (found != parts.end()) return found->second;
    const auto part = make();
    parts[group] = part;
    return part;
  }

  void hang_gpu(std::size_t gpu) {
    const auto socket = [&] {
      return part_of(sockets_, socket_key(gpu), [&] {
        const auto part = add(DeviceKind::socket, "", {});
        if (knows_numa()) layout_.parts[part].numa_node = matrix_.numa_nodes[gpu];
        return part;
      });
    };
    const auto root = [&] {
      return part_of(roots_, phb_[gpu], [&] {
        const auto parent = socket();
        return add(DeviceKind::root_complex, fmt::format("rc{}", roots_.size()), parent);
      });
    };
    const auto new_switch = [&](std::size_t parent) {
      return add(DeviceKind::pcie_switch, fmt::format("plx{}", switches_++), parent);
    };
    const bool is_tree = members(pxb_, pxb_[gpu]) > members(pix_, pix_[gpu]);
    const auto upper = [&] { return part_of(uppers_, pxb_[gpu], [&] { return new_switch(root()); }); };
    const auto lower = [&] {
      return part_of(lowers_, pix_[gpu], [&] { return new_switch(is_tree ? upper() : root()); });
    };
    const bool is_alone = !is_tree && members(pix_, pix_[gpu]) == 1;
    const auto parent = is_alone ? root() : lower();
    layout_.parts[gpu].parent = parent;
  }

  void name_sockets() {
    int number = 0;
    for (const auto& [key, part] : sockets_) {  // in the order of their keys
      layout_.parts[part].name = fmt::format("cpu{}", number++);
    }
  }

  /// A NIC hangs on the nearest part that a GPU hangs on too.
  void hang_nic(std::size_t nic) {
    for (const auto& [groups, parts] :
         {std::pair{&pix_, &lowers_}, std::pair{&pxb_, &uppers_}, std::pair{&phb_, &roots_}}) {
      const auto found = parts->find((*groups)[nic]);
      if (found == parts->end()) continue;
      layout_.parts[nic].parent = found->second;
      return;
    }
    for (std::size_t gpu = 0; gpu < matrix_.gpus; ++gpu) {
      if (matrix_.cells[nic][gpu].type != PathType::node) continue;
      layout_.parts[nic].parent = layout_.socket_of(gpu);
      return;
    }
  }

  void add_nvlinks() {
    int sum_of_first = 0;
    bool are_alike = true;
    for (std::size_t i = 0; i < matrix_.gpus; ++i) {
      for (auto j = i + 1; j < matrix_.gpus; ++j) {
        const auto count = matrix_.cells[i][j].nvlinks;
        are_alike = are_alike && count > 0 && count == matrix_.cells[0][1].nvlinks;
        if (i == 0) sum_of_first += count;
        if (count > 0) layout_.pairs.push_back({i, j, count});
      }
    }
    const bool is_mesh = nvlinks_.of_each_gpu == sum_of_first;
    const bool is_switched = are_alike && (nvlinks_.has_switch || (matrix_.gpus > 2 && !is_mesh));
    if (layout_.pairs.empty() || !is_switched) return;
    layout_.switched = layout_.pairs.front().count;
    layout_.pairs.clear();
  }

  /// What the tree makes of two GPUs, for comparison with what the matrix says.
  PathType type_in_tree(std::size_t one, std::size_t other) const {
    const auto ways = layout_.above(other);
    for (const auto part : layout_.above(one)) {
      if (std::ranges::find(ways, part) == ways.end()) continue;
      const auto kind = layout_.parts[part].kind;
      if (kind == DeviceKind::root_complex) return PathType::phb;
      if (kind == DeviceKind::socket) return PathType::node;
      return layout_.parts[one].parent == part ? PathType::pix : PathType::pxb;
    }
    return PathType::sys;
  }

  void compare() {
    for (std::size_t i = 0; i < matrix_.gpus; ++i) {
      for (auto j = i + 1; j < matrix_.gpus; ++j) {
        const auto shown = matrix_.cells[i][j];
        const auto made = type_in_tree(i, j);
        if (shown.type == PathType::nvlink || shown.type == made) continue;
        layout_.remarks.push_back(fmt::format(
            "the matrix shows {} between gpu{} and gpu{}, which its other cells and NUMA nodes make {}",
            topo_label(shown.type, 0), i, j, topo_label(made, 0)));
      }
    }
  }

  const TopologyMatrix& matrix_;
  const NvlinkFacts& nvlinks_;
  Groups pix_;
  Groups pxb_;
  Groups phb_;
  Groups not_sys_;
  std::map<std::size_t, std::size_t> sockets_;  ///< parts by what tells them apart
  std::map<std::size_t, std::size_t> roots_;
  std::map<std::size_t, std::size_t> uppers_;
  std::map<std::size_t, std::size_t> lowers_;
  int switches_ = 0;
  NodeLayout layout_;
};

}  // namespace

std::vector<std::size_t> NodeLayout::above(std::size_t device) const {
  std::vector<std::size_t> way;
  for (auto at = parts[device].parent; at; at = parts[*at].parent) way.push_back(*at);
  return way;
}

NodeLayout lay_out(const TopologyMatrix& matrix, const NvlinkFacts& nvlinks) {
  expects(matrix.gpus > 0, "a node has GPUs");
  return Layout{matrix, nvlinks}.make();
}

}  // namespace gradway
