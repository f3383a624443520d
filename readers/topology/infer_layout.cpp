// SPDX-License-Identifier: Apache-2.0
#include "readers/topology/node_layout.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "readers/topology/node_sockets.hpp"
#include "sim/base/contract.hpp"

namespace gradway {
namespace {

std::size_t members(const DeviceGroups& groups, std::size_t first) {
  return static_cast<std::size_t>(std::ranges::count(groups, first));
}

class NodeTopology {
 public:
  NodeTopology(const TopologyMatrix& matrix, const NvlinkFacts& nvlinks)
      : matrix_{matrix},
        nvlinks_{nvlinks},
        pix_{groups_within(matrix, PathType::pix)},
        pxb_{groups_within(matrix, PathType::pxb)},
        phb_{groups_within(matrix, PathType::phb)},
        sockets_of_{matrix} {}

  NodeLayout make() {
    layout_.gpus = matrix_.gpus;
    layout_.nics = matrix_.nics.size();
    for (std::size_t i = 0; i < matrix_.gpus; ++i) add(DeviceKind::gpu, fmt::format("gpu{}", i), {});
    std::set<std::string> taken;
    for (const auto& nic : matrix_.nics) add(DeviceKind::nic, *taken.insert(nic_name(nic, taken)).first, {});
    for (std::size_t i = 0; i < matrix_.size(); ++i) attach(i);
    name_sockets();
    add_nvlinks();
    compare();
    return std::move(layout_);
  }

 private:
  using Parts = std::map<std::size_t, std::size_t>;  ///< index of the part of each group

  std::size_t add(DeviceKind kind, std::string name, std::optional<std::size_t> parent) {
    layout_.parts.push_back({std::move(name), kind, parent, {}, false});
    return layout_.parts.size() - 1;
  }

  /// The part of a group. The first call creates it with its parents.
  template <class Make>
  std::size_t part_of(Parts& group_parts, std::size_t group, const Make& make) {
    const auto entry = group_parts.find(group);
    if (entry != group_parts.end()) return entry->second;
    const auto part = make();
    group_parts[group] = part;
    return part;
  }

  std::size_t new_root(std::size_t parent) {
    return add(DeviceKind::root_complex, fmt::format("rc{}", root_count_++), parent);
  }
  std::size_t new_switch(std::size_t parent) {
    return add(DeviceKind::pcie_switch, fmt::format("plx{}", switch_count_++), parent);
  }

  std::size_t socket(std::size_t device) {
    return part_of(sockets_, sockets_of_.socket(device), [&] {
      const auto part = add(DeviceKind::socket, "", {});
      layout_.parts[part].numa_node = sockets_of_.numa_node(device);
      return part;
    });
  }

  std::size_t root(std::size_t device) {
    return part_of(roots_, phb_[device], [&] {
      const auto parent = socket(device);
      if (!sockets_of_.is_split(device)) return new_root(parent);
      const auto island = sockets_of_.island(device);
      if (has_one_root(island)) return across(new_root(parent));
      return new_root(part_of(hubs_, island, [&] { return across(new_root(parent)); }));
    });
  }

  std::size_t across(std::size_t part) {
    layout_.parts[part].is_across = true;
    return part;
  }

  bool has_one_root(std::size_t island) const {
    std::set<std::size_t> roots;
    for (std::size_t i = 0; i < matrix_.size(); ++i) {
      if (sockets_of_.island(i) == island) roots.insert(phb_[i]);
    }
    return roots.size() == 1;
  }

  void attach(std::size_t device) {
    const bool is_tree = members(pxb_, pxb_[device]) > members(pix_, pix_[device]);
    const auto upper = [&] {
      return part_of(uppers_, pxb_[device], [&] { return new_switch(root(device)); });
    };
    const auto lower = [&] {
      return part_of(lowers_, pix_[device], [&] { return new_switch(is_tree ? upper() : root(device)); });
    };
    const bool is_lone = members(pix_, pix_[device]) == 1;
    const bool is_lone_nic = is_lone && device >= matrix_.gpus;
    const bool is_straight = is_tree && is_lone_nic && straight_.insert(pxb_[device]).second;
    const auto part = is_straight ? upper() : !is_tree && is_lone ? root(device) : lower();
    layout_.parts[device].parent = part;  // Set last: adding parts moves the others.
  }

  void name_sockets() {
    // Sockets by NUMA node; those without one are last.
    std::vector<std::pair<std::optional<int>, std::size_t>> order;
    for (const auto& [group, part] : sockets_) order.emplace_back(layout_.parts[part].numa_node, part);
    std::ranges::stable_sort(order, [](const auto& a, const auto& b) {
      return a.first.value_or(most_numa) < b.first.value_or(most_numa);
    });
    int number = 0;
    for (const auto& [numa, part] : order) layout_.parts[part].name = fmt::format("cpu{}", number++);
  }

  int nvlinks(std::size_t gpu, std::size_t peer) const { return matrix_.cells[gpu][peer].nvlinks; }

  /// Whether these GPUs, which NVLinks join, are behind an NVSwitch.
  bool is_switched(const std::vector<std::size_t>& joined) const {
    int most = 0;  // links of a GPU to all the others
    bool are_alike = joined.size() > 1;
    for (const auto gpu : joined) {
      int sum = 0;
      for (const auto peer : joined) {
        sum += nvlinks(gpu, peer);
        are_alike = are_alike && (gpu == peer || nvlinks(gpu, peer) == nvlinks(joined[0], joined[1]));
      }
      most = std::max(most, sum);
    }
    if (nvlinks_.has_switch && are_alike) return true;
    if (joined.size() < 3) return false;
    const bool is_too_many = nvlinks_.of_each_gpu && most > *nvlinks_.of_each_gpu;
    const bool are_all = joined.size() == matrix_.gpus;
    return is_too_many || (are_alike && (are_all ? nvlinks_.of_each_gpu != most : !nvlinks_.of_each_gpu));
  }

  void add_nvlinks() {
    const auto joined_to = groups_over_nvlinks(matrix_);
    std::map<std::size_t, std::vector<std::size_t>> joined;
    for (std::size_t i = 0; i < matrix_.gpus; ++i) joined[joined_to[i]].push_back(i);
    std::map<std::size_t, std::string> switches;  // by the first of their GPUs
    for (const auto& [first, gpus] : joined) {
      if (is_switched(gpus)) switches.emplace(first, fmt::format("nvswitch{}", switches.size()));
    }
    if (switches.size() == 1) switches.begin()->second = "nvswitch";
    std::vector<std::string> unlinked;
    for (std::size_t i = 0; i < matrix_.gpus; ++i) {
      const auto nvswitch = switches.find(joined_to[i]);
      int most = 0;
      for (std::size_t j = 0; j < matrix_.gpus; ++j) {
        most = std::max(most, nvlinks(i, j));
        if (j > i && nvlinks(i, j) > 0 && nvswitch == switches.end())
          layout_.pairs.push_back({i, j, nvlinks(i, j)});
      }
      if (most == 0) unlinked.push_back(layout_.name(i));
      if (nvswitch != switches.end()) layout_.switched.push_back({i, most, nvswitch->second});
    }
    if (switches.empty() || unlinked.empty()) return;
    layout_.remarks.push_back(fmt::format(
        "{} {} no NVLinks, but {} of the {} GPUs are on an NVSwitch: check 'nvidia-smi nvlink -s' "
        "and the fabric manager",
        fmt::join(unlinked, ", "), unlinked.size() == 1 ? "has" : "have", layout_.switched.size(),
        matrix_.gpus));
  }

  /// Adds one remark for all observations of a kind.
  void remark(const std::vector<std::string>& observations, std::string_view noun) {
    if (observations.empty()) return;
    const auto remainder = observations.size() > 1
                               ? fmt::format("; and {} more such {}", observations.size() - 1, noun)
                               : std::string{};
    layout_.remarks.push_back(observations.front() + remainder);
  }

  /// Adds remarks where the tree contradicts the matrix or its NUMA nodes.
  void compare() {
    std::vector<std::string> pairs;
    for (std::size_t i = 0; i < matrix_.size(); ++i) {
      for (auto j = i + 1; j < matrix_.size(); ++j) {
        const auto shown = matrix_.cells[i][j];
        const auto made = type_in_tree(layout_, i, j);
        if (shown.type == PathType::nvlink || shown.type == made) continue;
        pairs.push_back(fmt::format("the matrix shows {} between {} and {}, but its other cells imply {}",
                                    topo_label(shown.type, 0), layout_.name(i), layout_.name(j),
                                    topo_label(made, 0)));
      }
    }
    remark(pairs, "pairs");
    std::vector<std::string> assumed;
    for (auto nic = matrix_.gpus; nic < matrix_.size(); ++nic) {
      if (!sockets_of_.is_assumed(nic)) continue;
      assumed.push_back(fmt::format("{} is SYS to all GPUs: it is assumed to be on {}", layout_.name(nic),
                                    layout_.name(layout_.socket_of(nic))));
    }
    remark(assumed, "NICs");
    if (has_gpus_across()) {
      layout_.remarks.emplace_back(
          "the matrix shows SYS between devices of one NUMA node: they are assumed to reach its memory over "
          "links like those between sockets");
    }
    std::vector<std::string> moved;
    for (std::size_t gpu = 0; gpu < matrix_.gpus; ++gpu) {
      const auto& socket = layout_.parts[layout_.socket_of(gpu)];
      if (socket.numa_node == matrix_.numa_nodes[gpu] || !socket.numa_node) continue;
      moved.push_back(
          fmt::format("{} belongs to NUMA node {}, but is nearer than SYS to devices of node {}: it is "
                      "assumed to be on their socket",
                      layout_.name(gpu), *matrix_.numa_nodes[gpu], *socket.numa_node));
    }
    remark(moved, "GPUs");
  }

  bool has_gpus_across() const {
    for (std::size_t part = 0; part < layout_.parts.size(); ++part) {
      if (layout_.parts[part].is_across && !layout_.gpus_below(part).empty()) return true;
    }
    return false;
  }

  static constexpr int most_numa = std::numeric_limits<int>::max();

  const TopologyMatrix& matrix_;
  const NvlinkFacts& nvlinks_;
  DeviceGroups pix_;
  DeviceGroups pxb_;
  DeviceGroups phb_;
  NodeSockets sockets_of_;
  Parts sockets_;
  Parts roots_;
  Parts hubs_;
  Parts uppers_;
  Parts lowers_;
  std::set<std::size_t> straight_;  ///< upper switches with a directly attached NIC
  int root_count_ = 0;
  int switch_count_ = 0;
  NodeLayout layout_;
};

}  // namespace

NodeLayout node_layout(const TopologyMatrix& matrix, const NvlinkFacts& nvlinks) {
  expects(matrix.gpus > 0, "a node has GPUs");
  return NodeTopology{matrix, nvlinks}.make();
}

}  // namespace gradway
