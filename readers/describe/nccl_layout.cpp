// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "readers/describe/drafted_platform.hpp"
#include "readers/fit/yaml_text.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {
namespace {

using Kind = NcclPci::Kind;

/// Removes the CPUs of all hosts but the first. @return number of hosts
std::size_t keep_first_host(NcclTopology& topology) {
  std::set<std::string> hosts;
  for (const auto& cpu : topology.cpus) hosts.insert(cpu.host);
  const auto first = topology.cpus.front().host;
  std::erase_if(topology.cpus, [&](const NcclCpu& cpu) { return cpu.host != first; });
  return hosts.size();
}

class NodeTopology {
 public:
  explicit NodeTopology(const NcclTopology& topology) : topology_{topology} {}

  NcclNodeLayout make() {
    for (const auto& cpu : topology_.cpus) collect(cpu.devices);
    if (gpus_.empty())
      refuse_at(topology_.where, "the file has no GPUs",
                "give a topology written by NCCL on a node with GPUs");
    order_gpus();
    for (const auto* gpu : gpus_) {
      places_[gpu] = add(DeviceKind::gpu, fmt::format("gpu{}", layout_.gpus++), slot_of(*gpu));
    }
    for (const auto* nic : nics_) add_nic_ports(nic, nic->nets, slot_of(*nic));
    for (const auto& cpu : topology_.cpus) {
      if (!cpu.nets.empty()) add_nic_ports(&cpu, cpu.nets, {});
    }
    layout_.nics = layout_.parts.size() - layout_.gpus;
    attach_devices();
    add_nvlinks();
    result_.layout = std::move(layout_);
    return std::move(result_);
  }

 private:
  static bool is_switch(const NcclPci& pci) { return !pci.children.empty(); }

  static PartLink slot_of(const NcclPci& pci) { return {pci.transfers, pci.lanes, {}, pci.gpu.has_c2c}; }

  void collect(const std::vector<NcclPci>& devices) {
    for (const auto& device : devices) {
      if (device.kind == Kind::gpu) gpus_.push_back(&device);
      if (device.kind == Kind::nic) nics_.push_back(&device);
      collect(device.children);
    }
  }

  void order_gpus() {
    const bool have_numbers =
        std::ranges::all_of(gpus_, [](const auto* gpu) { return gpu->gpu.dev.has_value(); });
    std::ranges::stable_sort(gpus_, [&](const auto* first, const auto* second) {
      if (have_numbers) return *first->gpu.dev < *second->gpu.dev;
      return first->bus < second->bus;
    });
    for (std::size_t i = 1; i < gpus_.size(); ++i) {
      const bool is_same_number = have_numbers && gpus_[i]->gpu.dev == gpus_[i - 1]->gpu.dev;
      if (!is_same_number && gpus_[i]->bus != gpus_[i - 1]->bus) continue;
      throw ConfigError{Problem{gpus_[i]->where,
                                is_same_number
                                    ? fmt::format("two GPUs have the device number {}", *gpus_[i]->gpu.dev)
                                    : fmt::format("two GPUs have the bus '{}'", gpus_[i]->bus),
                                {{gpus_[i - 1]->where, "the other GPU is here"}},
                                "give the topology of one node, with each GPU once"}};
    }
  }

  std::size_t add(DeviceKind kind, std::string name, PartLink link) {
    layout_.parts.push_back({std::move(name), kind, {}, {}, false});
    result_.links.push_back(link);
    return layout_.parts.size() - 1;
  }

  /// Adds a NIC for each port. A NIC without ports, in files with little more than the nesting, is added
  /// once.
  void add_nic_ports(const void* owner, const std::vector<NcclNet>& nets, PartLink link) {
    constexpr double bytes_of_megabit = 125'000;
    const auto ports = nets.empty() ? std::vector<NcclNet>{{fmt::format("nic{}", ports_.size()), {}}} : nets;
    for (const auto& net : ports) {
      const auto name = nic_name(net.name.empty() ? fmt::format("nic{}", ports_.size()) : net.name, taken_);
      taken_.insert(name);
      link.wire.reset();
      if (net.speed) link.wire = BytesPerSecond{*net.speed * bytes_of_megabit};
      ports_.emplace(owner, add(DeviceKind::nic, name, link));
    }
  }

  static bool holds_devices(const NcclPci& pci) {
    return pci.kind == Kind::gpu || pci.kind == Kind::nic || std::ranges::any_of(pci.children, holds_devices);
  }

  void attach_devices() {
    int sockets = 0;
    for (const auto& cpu : topology_.cpus) {
      const bool holds = !cpu.nets.empty() || std::ranges::any_of(cpu.devices, holds_devices);
      if (!holds) continue;
      const auto socket = add(DeviceKind::socket, fmt::format("cpu{}", sockets++), {});
      layout_.parts[socket].numa_node = cpu.numa_node;
      attach_ports(&cpu, socket);
      for (const auto& device : cpu.devices) {
        if (!holds_devices(device)) continue;
        const auto root = add(DeviceKind::root_complex, fmt::format("rc{}", roots_++), {});
        layout_.parts[root].parent = socket;
        attach_device(device, root);
      }
    }
  }

  void attach_ports(const void* owner, std::size_t parent) {
    const auto [first, last] = ports_.equal_range(owner);
    for (auto port = first; port != last; ++port) layout_.parts[port->second].parent = parent;
  }

  void attach_device(const NcclPci& device, std::size_t parent) {
    if (device.kind == Kind::gpu) layout_.parts[places_.at(&device)].parent = parent;
    if (device.kind == Kind::nic) attach_ports(&device, parent);
    if (!is_switch(device) || !holds_devices(device)) return;
    const auto part = add(DeviceKind::pcie_switch, fmt::format("plx{}", switches_++), slot_of(device));
    layout_.parts[part].parent = parent;
    for (const auto& child : device.children) {
      if (holds_devices(child)) attach_device(child, part);
    }
  }

  void add_nvlinks() {
    result_.lists_nvlinks = topology_.is_dump;
    std::set<std::string> left_out;
    std::vector<int> hidden(gpus_.size());  // NVLinks to the GPU itself
    // Counts as reported by both ends.
    std::map<std::pair<std::size_t, std::size_t>, std::pair<int, int>> pairs;
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      int to_switch = 0;
      for (const auto& link : gpus_[i]->gpu.nvlinks) {
        if (link.to == NcclNvlink::End::nvswitch) to_switch += link.count;
        if (link.to == NcclNvlink::End::cpu) left_out.insert("NVLinks between GPUs and CPUs are ignored");
        if (link.to != NcclNvlink::End::gpu) continue;
        const auto peer = std::ranges::find(gpus_, link.target, [](const auto* gpu) { return gpu->bus; });
        const auto j = static_cast<std::size_t>(peer - gpus_.begin());
        if (j == i) {
          hidden[i] += link.count;
        } else if (j == gpus_.size()) {
          left_out.insert("NVLinks to GPUs that are not in the file are ignored");
        } else {
          auto& counts = pairs[std::minmax(i, j)];
          (i < j ? counts.first : counts.second) += link.count;
        }
      }
      if (to_switch > 0) layout_.switched.push_back({i, to_switch, "nvswitch"});
    }
    const bool are_alike = std::ranges::all_of(
        layout_.switched, [&](const auto& uplink) { return uplink.links == layout_.switched.front().links; });
    if (!are_alike || (!layout_.switched.empty() && layout_.switched.size() < gpus_.size()))
      left_out.insert("GPUs have different numbers of NVLinks to the NVSwitch, some of them perhaps none");
    add_hidden_bridges(hidden, left_out);
    for (const auto& [ends, counts] : pairs) {
      const auto [low, high] = std::minmax(counts.first, counts.second);
      if (low != high && low > 0)
        left_out.insert(
            "two GPUs report different numbers of NVLinks between them: the smaller number is used");
      layout_.pairs.push_back({ends.first, ends.second, low > 0 ? low : high});
    }
    result_.uncertainties.insert(result_.uncertainties.end(), left_out.begin(), left_out.end());
  }

  /// Files of clouds hide the other end of NVLinks: each GPU seems to have them to itself. If all GPUs have
  /// equally many, bridges join every two of them.
  void add_hidden_bridges(const std::vector<int>& hidden, std::set<std::string>& uncertainties) {
    if (std::ranges::count(hidden, 0) == std::ssize(hidden)) return;
    const bool are_pairs =
        hidden.size() % 2 == 0 && std::ranges::count(hidden, hidden.front()) == std::ssize(hidden);
    for (std::size_t i = 0; are_pairs && i < hidden.size(); i += 2)
      layout_.pairs.push_back({i, i + 1, hidden[i]});
    uncertainties.insert(
        are_pairs ? "the file has NVLinks of each GPU to itself: bridges between every two GPUs are assumed"
                  : "NVLinks of a GPU to itself are ignored: the file hides their other end");
  }

  const NcclTopology& topology_;
  std::vector<const NcclPci*> gpus_;
  std::vector<const NcclPci*> nics_;
  std::map<const NcclPci*, std::size_t> places_;  ///< Parts of GPUs.
  /// Parts of NICs, by the device or CPU to which they are attached.
  std::multimap<const void*, std::size_t> ports_;
  std::set<std::string> taken_;
  int roots_ = 0;
  int switches_ = 0;
  NodeLayout layout_;
  NcclNodeLayout result_;
};

}  // namespace

NcclNodeLayout node_layout(const NcclTopology& topology, std::optional<int> gpus) {
  auto node = topology;
  const auto hosts = keep_first_host(node);
  auto uncertainties = find_unlisted_gpus(node, gpus);
  if (hosts > 1)
    uncertainties.push_back(fmt::format("the file has {} nodes: the first one is described", hosts));
  for (const auto& element : topology.unknown)
    uncertainties.push_back(fmt::format("unknown elements <{}> are ignored", ascii_line(element)));
  auto result = NodeTopology{node}.make();
  result.uncertainties.insert(result.uncertainties.begin(), uncertainties.begin(), uncertainties.end());
  return result;
}

namespace {

using Kind = NcclPci::Kind;

void visit(std::vector<NcclPci>& devices, const std::function<void(NcclPci&)>& action) {
  for (auto& device : devices) {
    action(device);
    visit(device.children, action);
  }
}

void visit(NcclTopology& topology, const std::function<void(NcclPci&)>& action) {
  for (auto& cpu : topology.cpus) visit(cpu.devices, action);
}

int count(NcclTopology& topology, Kind kind) {
  int number = 0;
  visit(topology, [&](const NcclPci& device) { number += device.kind == kind ? 1 : 0; });
  return number;
}

/// The lists of devices that may contain a GPU: of the lowest switches, or of the CPUs if there are no
/// switches.
std::vector<std::vector<NcclPci>*> places(NcclTopology& topology) {
  std::vector<std::vector<NcclPci>*> lists;
  visit(topology, [&](NcclPci& device) {
    const auto is_switch = [](const NcclPci& child) { return !child.children.empty(); };
    if (!device.children.empty() && std::ranges::none_of(device.children, is_switch))
      lists.push_back(&device.children);
  });
  if (!lists.empty()) return lists;
  for (auto& cpu : topology.cpus) lists.push_back(&cpu.devices);
  return lists;
}

void check_count(NcclTopology& topology, int named, std::optional<int> gpus) {
  if (!gpus || *gpus == named) return;
  refuse_at(topology.where,
            fmt::format("the file contains {} GPUs instead of the {} of '--gpus'", named, *gpus),
            "remove '--gpus'");
}

void name(NcclTopology& topology, Kind kind) {
  visit(topology, [&](NcclPci& device) {
    if (device.kind == Kind::unnamed) device.kind = kind;
  });
}

}  // namespace

std::vector<std::string> find_unlisted_gpus(NcclTopology& topology, std::optional<int> gpus) {
  const auto named = count(topology, Kind::gpu);
  const auto unnamed = count(topology, Kind::unnamed);
  if (named > 0) {
    check_count(topology, named, gpus);
    name(topology, Kind::other);
    if (unnamed == 0) return {};
    return {fmt::format("{} devices of the file are of unknown kind and ignored", unnamed)};
  }
  const auto lists = places(topology);
  const auto on_switches = !topology.cpus.empty() && lists.front() != &topology.cpus.front().devices;
  const auto* const where = on_switches ? "switches" : "CPUs";
  if (!gpus) {
    refuse_at(topology.where, "the file does not state which of its devices are GPUs",
              fmt::format("give their number with --gpus N: the same number on each of its {} {}",
                          lists.size(), where));
  }
  if (*gpus == unnamed) {
    name(topology, Kind::gpu);
    return {
        fmt::format("the file does not state what its devices are: all {} are assumed to be GPUs", *gpus)};
  }
  const auto places_count = static_cast<int>(lists.size());
  if (*gpus % places_count != 0) {
    refuse_at(topology.where, fmt::format("{} GPUs are not divisible by {} {}", *gpus, places_count, where),
              "add the GPUs to the file as <pci busid=\"...\" class=\"0x030200\"/>");
  }
  const auto share = *gpus / places_count;
  int added = 0;
  for (auto* const list : lists) {
    int missing = share;
    for (auto& device : *list) {
      if (on_switches || missing == 0 || device.kind != Kind::unnamed) continue;
      device.kind = Kind::gpu;
      --missing;
    }
    for (; missing > 0; --missing) {
      NcclPci gpu;
      gpu.kind = Kind::gpu;
      gpu.bus = fmt::format("{}-unlisted-{:06}", list->empty() ? "" : list->front().bus, added++);
      gpu.where = topology.where;
      list->push_back(gpu);
    }
  }
  name(topology, Kind::nic);
  return {
      fmt::format("the file does not list GPUs: {} {} each of its {} {}, and its other devices to be NICs",
                  share, share == 1 ? "is assumed to be on" : "are assumed to be on", places_count, where)};
}

}  // namespace gradway
