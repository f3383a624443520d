// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/builder.hpp"

#include <map>
#include <optional>

#include <fmt/format.h>

namespace gradway {
namespace {

class FabricBuilder {
 public:
  FabricBuilder(const FabricDescription& fabric, PlatformBuilder& builder)
      : fabric_{fabric}, builder_{builder} {}

  void build() {
    if (fabric_.kind != Kind::star && is_spread()) {
      spines_.push_back(add_switch("spines"));
    } else if (fabric_.kind != Kind::star) {
      for (int s = 0; s < fabric_.spines; ++s) spines_.push_back(add_switch(fmt::format("spine{}", s)));
    }
    const auto& devices = builder_.platform().devices;
    const auto parts = devices.size();  // without switches, which are added below
    std::map<int, int> nics;            // number of NICs so far, by node
    for (std::size_t i = 0; i < parts; ++i) {
      if (devices[i].kind != DeviceKind::nic) continue;
      const auto node = devices[i].node;
      const auto rail = nics[node]++;
      builder_.connect(DeviceId{i}, switch_of(node, rail), LinkKind::network, rates(fabric_.bandwidth));
    }
    if (fabric_.kind != Kind::star && is_spread()) note_uplinks(nics.empty() ? 1 : nics.begin()->second);
  }

  const std::optional<Network::Uplinks>& uplinks() const { return uplinks_; }

 private:
  using Kind = FabricDescription::Kind;

  bool is_spread() const { return fabric_.network.conditions.routing.has_value(); }

  PlatformBuilder::Rates rates(BytesPerSecond wire) const {
    return {wire * fabric_.efficiency, wire * fabric_.efficiency, fabric_.latency, 1};
  }

  void note_uplinks(int nics_of_node) {
    const bool has_rails = fabric_.kind == Kind::rail_optimised;
    uplinks_ = {fabric_.spines, has_rails ? 1 : nics_of_node, static_cast<int>(leaves_.size())};
  }

  DeviceId add_switch(const std::string& name) {
    if (const auto id = builder_.add_device(name, DeviceKind::fabric_switch, -1)) return *id;
    throw ConfigError{{fabric_.where,
                       fmt::format("a part of the node has the name of a fabric switch, '{}'", name),
                       {},
                       "rename that part"}};
  }

  /// The switch of a NIC. Added with its uplinks on first use.
  DeviceId switch_of(int node, int rail) {
    const auto group = fabric_.kind == Kind::star ? 0 : node / fabric_.nodes_per_leaf;
    const auto key = std::pair{group, fabric_.kind == Kind::rail_optimised ? rail : 0};
    if (const auto known = leaves_.find(key); known != leaves_.end()) return known->second;
    const auto leaf = add_switch(name_of(key.first, key.second));
    leaves_.emplace(key, leaf);
    for (const auto spine : spines_) {
      const double joined = is_spread() ? fabric_.spines : 1;
      builder_.connect(leaf, spine, LinkKind::network, rates(fabric_.uplink_bandwidth * joined));
    }
    return leaf;
  }

  std::string name_of(int group, int rail) const {
    if (fabric_.kind == Kind::star) return "fabric";
    if (fabric_.kind == Kind::leaf_spine) return fmt::format("leaf{}", group);
    return fmt::format("leaf{}.rail{}", group, rail);
  }

  const FabricDescription& fabric_;
  PlatformBuilder& builder_;
  std::optional<Network::Uplinks> uplinks_;
  std::vector<DeviceId> spines_;
  std::map<std::pair<int, int>, DeviceId> leaves_;  ///< by group of nodes and rail
};

}  // namespace

void add_fabric(const FabricDescription& fabric, PlatformBuilder& builder) {
  FabricBuilder fabric_builder{fabric, builder};
  fabric_builder.build();
  auto& network = builder.platform().network.emplace(fabric.network);
  network.nic_rate = fabric.bandwidth * fabric.efficiency;
  network.nodes_per_leaf = fabric.kind == FabricDescription::Kind::star ? 0 : fabric.nodes_per_leaf;
  network.uplinks = fabric_builder.uplinks();
}

void add_nvlink_domains(const NvlinkDomainDescription& domain, PlatformBuilder& builder) {
  auto& platform = builder.platform();
  for (int node = 0; node < platform.nodes; ++node) platform.nvlink_domains.push_back(node / domain.nodes);
  std::map<int, DeviceId> switches;
  for (const auto gpu : platform.gpus) {
    const auto number = platform.nvlink_domain(gpu);
    if (!switches.contains(number)) {
      const auto name = fmt::format("nvlink_domain{}", number);
      const auto id = builder.add_device(name, DeviceKind::nvswitch, -1);
      if (!id) {
        throw ConfigError{{domain.where,
                           fmt::format("a part of the node has the name of an NVLink domain, '{}'", name),
                           {},
                           "rename that part"}};
      }
      switches.emplace(number, *id);
    }
    builder.connect(gpu, switches.at(number), LinkKind::nvlink,
                    {domain.bandwidth, domain.bandwidth, domain.latency, domain.count});
  }
}

}  // namespace gradway
