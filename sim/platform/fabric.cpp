// SPDX-License-Identifier: Apache-2.0
#include "sim/base/problem.hpp"
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
    if (fabric_.kind != Kind::rail_only) spines_of_rail_.push_back(add_spines(""));
    const auto& devices = builder_.platform().devices;
    const auto part_count = devices.size();  // without switches, which are added below
    std::map<int, int> nics;                 // number of NICs so far, by node
    for (std::size_t i = 0; i < part_count; ++i) {
      if (devices[i].kind != DeviceKind::nic) continue;
      const auto node = devices[i].node;
      const auto rail = fabric_.has_rails() ? nics[node] / fabric_.nics_per_leaf : 0;
      ++nics[node];
      builder_.connect(DeviceId{i}, switch_of(node, rail), LinkKind::network, rates(fabric_.bandwidth));
    }
    const auto of_node = nics.empty() ? 1 : nics.begin()->second;
    if (fabric_.nics_per_leaf > of_node) {
      refuse_at(fabric_.where,
                fmt::format("nics_per_leaf {} exceeds the {} NIC{} of a node", fabric_.nics_per_leaf, of_node,
                            of_node == 1 ? "" : "s"),
                "for all NICs of a node on one leaf, write 'kind: leaf_spine'");
    }
    if (has_uplinks() && is_spread()) note_uplinks(fabric_.has_rails() ? fabric_.nics_per_leaf : of_node);
  }

  const std::optional<Network::Uplinks>& uplinks() const { return uplinks_; }

 private:
  using Kind = FabricDescription::Kind;

  bool is_spread() const { return fabric_.network.conditions.routing.has_value(); }

  bool has_uplinks() const { return fabric_.kind != Kind::star && fabric_.spines > 0; }
  bool has_one_group() const { return fabric_.kind == Kind::star || fabric_.nodes_per_leaf == 0; }

  PlatformBuilder::Rates rates(BytesPerSecond wire) const {
    return {wire * fabric_.efficiency, wire * fabric_.efficiency, fabric_.latency, 1};
  }

  void note_uplinks(int nics_of_leaf) {
    uplinks_ = {fabric_.spines, nics_of_leaf, static_cast<int>(leaves_.size())};
  }

  /// All spines, or one for all of them if flows spread over their links.
  std::vector<DeviceId> add_spines(const std::string& prefix) {
    std::vector<DeviceId> spines;
    if (!has_uplinks()) return spines;
    if (is_spread()) {
      spines.push_back(add_switch(prefix + "spines"));
    } else {
      for (int s = 0; s < fabric_.spines; ++s)
        spines.push_back(add_switch(fmt::format("{}spine{}", prefix, s)));
    }
    return spines;
  }

  DeviceId add_switch(const std::string& name) {
    if (const auto id = builder_.add_device(name, DeviceKind::fabric_switch, -1)) return *id;
    refuse_at(fabric_.where, fmt::format("a part of the node has the name of a fabric switch, '{}'", name),
              "rename that part");
  }

  /// The spines that join a rail with others, or its own.
  const std::vector<DeviceId>& spines_of(int rail) {
    if (fabric_.kind != Kind::rail_only) return spines_of_rail_.front();
    const auto index = static_cast<std::size_t>(rail);
    while (spines_of_rail_.size() <= index)
      spines_of_rail_.push_back(add_spines(fmt::format("rail{}.", spines_of_rail_.size())));
    return spines_of_rail_[index];
  }

  /// The switch of a NIC. Added with its uplinks on first use.
  DeviceId switch_of(int node, int rail) {
    const auto group = has_one_group() ? 0 : node / fabric_.nodes_per_leaf;
    const auto key = std::pair{group, rail};
    if (const auto known = leaves_.find(key); known != leaves_.end()) return known->second;
    const auto leaf = add_switch(name_of(group, rail));
    leaves_.emplace(key, leaf);
    for (const auto spine : spines_of(rail)) {
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
  std::vector<std::vector<DeviceId>> spines_of_rail_;  ///< one entry if they join all rails
  std::map<std::pair<int, int>, DeviceId> leaves_;     ///< by group of nodes and rail
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
        refuse_at(domain.where,
                  fmt::format("a part of the node has the name of an NVLink domain, '{}'", name),
                  "rename that part");
      }
      switches.emplace(number, *id);
    }
    builder.connect(gpu, switches.at(number), LinkKind::nvlink,
                    {domain.bandwidth, domain.bandwidth, domain.latency, domain.count});
  }
}

}  // namespace gradway
