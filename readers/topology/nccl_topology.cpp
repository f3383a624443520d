// SPDX-License-Identifier: Apache-2.0
#include "readers/topology/nccl_xml.hpp"
#include "sim/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "readers/topology/gpu_name.hpp"
#include "sim/files/xml_file.hpp"

namespace gradway {

namespace {

using pugi::xml_node;

constexpr std::size_t most_devices_of_a_node = 4096;
constexpr int most_class = 0xFFFFFF;
constexpr int nvswitch_class = 0x068000;
constexpr int cpu_class = 0x068001;  // Class of an NVLink's other end.
constexpr std::array known_transfers{2.5, 5.0, 8.0, 16.0, 32.0, 64.0};

class TopologyParser {
 public:
  explicit TopologyParser(const XmlFile& file) : file_{file} {}

  NcclTopology parse() {
    const auto root = file_.root();
    topology_.where = file_.at(root);
    if (const auto version = file_.attribute(root, "version");
        !version.empty() && version != "1" && version != "2") {
      refuse_at(file_.at(root, "version"), fmt::format("unknown version '{}' of the file", version),
                "gradway reads version 1, which NCCL up to 2.30 writes, and version 2 of RCCL");
    }
    for (const auto& child : root.children()) {
      if (is(child, "cpu")) {
        topology_.cpus.push_back(read_cpu(child));
      } else {
        ignore(child);
      }
    }
    if (topology_.cpus.empty())
      refuse_at(topology_.where, "<system> has no <cpu>",
                "expected a <cpu> for each NUMA node, with its devices");
    return std::move(topology_);
  }

 private:
  static bool is(const xml_node& node, std::string_view name) { return node.name() == name; }

  void ignore(const xml_node& node) {
    if (node.type() != pugi::node_element) return;
    const std::string name = node.name();
    if (std::ranges::find(topology_.unknown, name) == topology_.unknown.end())
      topology_.unknown.push_back(name);
  }

  NcclCpu read_cpu(const xml_node& node) {
    NcclCpu cpu;
    cpu.numa_node = file_.whole(node, "numaid", -1, 4096);
    if (cpu.numa_node == -1) cpu.numa_node.reset();
    cpu.vendor = file_.attribute(node, "vendor");
    if (cpu.vendor.empty() && file_.attribute(node, "arch") == "arm64") cpu.vendor = "ARM";
    if (file_.whole(node, "familyid", -1, 1 << 16) == 6)
      cpu.model = file_.whole(node, "modelid", -1, 1 << 16);
    cpu.host = file_.attribute(node, "host_hash");
    for (const auto& child : node.children()) {
      if (is(child, "pci")) {
        cpu.devices.push_back(read_pci(child));
      } else if (is(child, "nic")) {
        read_nets(child, cpu.nets);
      } else {
        ignore(child);
      }
    }
    return cpu;
  }

  /// The depth is limited by XmlFile.
  NcclPci read_pci(const xml_node& node) {
    NcclPci pci;
    pci.where = file_.at(node);
    if (++devices_ > most_devices_of_a_node)
      refuse_at(pci.where, fmt::format("the file has more than {} devices", most_devices_of_a_node), "");
    pci.bus = lower_case(file_.attribute(node, "busid"));
    if (pci.bus.empty())
      refuse_at(pci.where, "the <pci> has no 'busid'",
                "expected the bus of the device, such as 0000:10:1c.0");
    const auto vendor = file_.whole(node, "vendor", 0, 0xFFFF);
    const bool is_nvidia = vendor == nvidia_pci_vendor;
    if (is_nvidia || vendor == amd_pci_vendor) pci.device = file_.whole(node, "device", 0, 0xFFFF);
    read_link(node, pci);
    for (const auto& child : node.children()) {
      if (is(child, "pci")) {
        pci.children.push_back(read_pci(child));
      } else if (is(child, "gpu")) {
        pci.gpu = read_gpu(child);
        topology_.is_dump = true;
      } else if (is(child, "nic")) {
        read_nets(child, pci.nets);
      } else if (!is(child, "pcilink")) {
        ignore(child);
      }
    }
    pci.kind = kind_of(node, pci, is_nvidia);
    return pci;
  }

  NcclPci::Kind kind_of(const xml_node& node, const NcclPci& pci, bool is_nvidia) const {
    using enum NcclPci::Kind;
    const auto number = file_.whole(node, "class", 0, most_class);
    if (node.child("gpu")) return gpu;
    if (node.child("nic")) return nic;
    if (!pci.children.empty()) return bridge;
    if (!number) return is_nvidia ? gpu : unnamed;
    if (number == nvswitch_class) return other;
    constexpr int subclasses = 0x10000;
    constexpr int display = 0x03;
    constexpr int network = 0x02;
    constexpr int bridges = 0x06;
    const auto base = *number / subclasses;
    return base == display ? gpu : base == network ? nic : base == bridges ? bridge : other;
  }

  /// Reads "16.0 GT/s PCIe" or "16 GT/s". NCCL assumes Gen3 for missing or unreadable speeds, and 16 lanes
  /// for a missing width.
  void read_link(const xml_node& node, NcclPci& pci) const {
    const auto text = file_.attribute(node, "link_speed");
    double speed = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), speed);
    if (error == std::errc{}) {
      const bool has_unit = std::string_view{end, text.data() + text.size()}.starts_with(" GT/s");
      if (!has_unit || std::ranges::find(known_transfers, speed) == known_transfers.end()) {
        refuse_at(file_.at(node, "link_speed"), fmt::format("invalid PCIe speed '{}'", text),
                  "expected 2.5, 5, 8, 16, 32 or 64 GT/s");
      }
      pci.transfers = speed;
    }
    constexpr int most_lanes = 32;  // Virtual machines report 63 or 255 if unknown.
    const auto lanes = file_.whole(node, "link_width", 0, 255);
    if (lanes && *lanes > 0 && *lanes <= most_lanes) pci.lanes = lanes;
  }

  NcclGpu read_gpu(const xml_node& node) {
    NcclGpu gpu;
    gpu.dev = file_.whole(node, "dev", 0, 1 << 16);
    // RCCL writes AMD's architecture beside, and its number of multiprocessors here.
    if (!node.attribute("gcn")) gpu.sm = file_.whole(node, "sm", 10, 999);
    for (const auto& child : node.children()) {
      if (is(child, "nvlink") || is(child, "xgmi")) {
        gpu.nvlinks.push_back(read_nvlink(child));
      } else if (is(child, "c2c")) {
        gpu.has_c2c = true;
      } else {
        ignore(child);
      }
    }
    return gpu;
  }

  NcclNvlink read_nvlink(const xml_node& node) const {
    NcclNvlink link;
    link.where = file_.at(node);
    link.target = lower_case(file_.attribute(node, "target"));
    link.count = file_.whole(node, "count", 1, 1024).value_or(1);
    const auto target_class = file_.whole(node, "tclass", 0, most_class);
    if (target_class == nvswitch_class) link.to = NcclNvlink::End::nvswitch;
    if (target_class == cpu_class) link.to = NcclNvlink::End::cpu;
    return link;
  }

  void read_nets(const xml_node& nic, std::vector<NcclNet>& nets) {
    constexpr double most_speed = 1e8;  // 100 Tb/s.
    for (const auto& child : nic.children()) {
      if (!is(child, "net")) {
        ignore(child);
        continue;
      }
      auto speed = file_.number(child, "speed", -most_speed, most_speed);
      if (speed && *speed <= 0) speed.reset();
      nets.push_back({file_.attribute(child, "name"), speed});
    }
  }

  const XmlFile& file_;
  std::size_t devices_ = 0;
  NcclTopology topology_;
};

}  // namespace

NcclTopology read_nccl_topology(const XmlFile& file) {
  if (std::string_view{file.root().name()} != "system") {
    refuse_at(file.at(file.root()), fmt::format("<{}> is not a topology of NCCL", file.root().name()),
              "expected <system>: set NCCL_TOPO_DUMP_FILE to make NCCL write it");
  }
  return TopologyParser{file}.parse();
}

NcclXml read_nccl_xml(TextFile text) {
  const XmlFile file{std::move(text)};
  const bool are_graphs = std::string_view{file.root().name()} == "graphs";
  if (are_graphs) return {read_nccl_graphs(file), file.at(file.root())};
  return {read_nccl_topology(file), file.at(file.root())};
}

}  // namespace gradway
