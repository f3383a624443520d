// SPDX-License-Identifier: Apache-2.0
#include <set>

#include <fmt/format.h>

#include "sim/base/nearest.hpp"
#include "sim/base/problem.hpp"
#include "sim/platform/builder.hpp"
#include "sim/platform/description.hpp"

namespace gradway {
namespace {

/// Adds the first node of a platform and its copies. Collects all problems.
class NodeBuilder {
 public:
  NodeBuilder(const BuiltPlatform& hardware, int nodes, const Gpu& gpu, PlatformBuilder& builder)
      : node_{hardware.node}, gpu_{gpu}, builder_{builder}, nodes_{nodes} {
    // The prefix keeps names of parts distinct from names of the fabric.
    if (nodes > 1 || (hardware.fabric && hardware.nodes)) prefix_ = "node0.";
  }

  void add() {
    for (int i = 0; i < node_.gpus; ++i) {
      const auto id = add_device(fmt::format("gpu{}", i), {}, DeviceKind::gpu);
      if (id) builder_.add_gpu(*id, gpu_);
    }
    for (const auto& socket : node_.sockets) {
      for (const auto id : add_devices(socket.name, DeviceKind::socket)) {
        builder_.add_memory(id, socket.memory_bandwidth);
      }
    }
    for (const auto& pattern : node_.root_complexes) add_devices(pattern, DeviceKind::root_complex);
    for (const auto& pattern : node_.pcie_switches) add_devices(pattern, DeviceKind::pcie_switch);
    for (const auto& pattern : node_.nvswitches) add_devices(pattern, DeviceKind::nvswitch);
    for (const auto& pattern : node_.nics) add_devices(pattern, DeviceKind::nic);
    for (const auto& link : node_.links) connect(link);
    find_unlinked_parts();
    if (!problems_.empty()) throw ConfigError{problems_};
    builder_.repeat_node(nodes_, known_);
  }

 private:
  std::optional<DeviceId> add_device(const std::string& name, const Where& where, DeviceKind kind) {
    const auto id = builder_.add_device(prefix_ + name, kind, 0);
    if (!id) {
      problems_.push_back(
          {where, fmt::format("duplicate name '{}'", name), {}, "each part of a node needs its own name"});
      return std::nullopt;
    }
    known_.push_back(name);
    where_.push_back(where);
    return id;
  }

  std::vector<DeviceId> add_devices(const NamePattern& pattern, DeviceKind kind) {
    std::vector<DeviceId> added;
    for (const auto& name : expand(pattern)) {
      if (const auto id = add_device(name, pattern.where, kind)) added.push_back(*id);
    }
    return added;
  }

  std::vector<DeviceId> find(const NamePattern& pattern) {
    std::vector<DeviceId> devices;
    for (const auto& name : expand(pattern)) {
      if (const auto id = builder_.find(prefix_ + name)) {
        devices.push_back(*id);
        linked_.insert(name);
      } else {
        problems_.push_back(
            {pattern.where, fmt::format("the node has no part '{}'", name), {}, suggestion(name, known_)});
        return {};
      }
    }
    return devices;
  }

  void connect(const LinkDescription& link) {
    const auto from = find(link.from);
    const auto to = find(link.to);
    if (from.empty() || to.empty()) return;
    if (from.size() != to.size() && from.size() != 1 && to.size() != 1) {
      problems_.push_back({link.where,
                           fmt::format("'{}' has {} names and '{}' has {}, which cannot be paired",
                                       link.from.text, from.size(), link.to.text, to.size()),
                           {},
                           "give both ends the same number of names, or one end a single one"});
      return;
    }
    for (std::size_t i = 0; i < std::max(from.size(), to.size()); ++i) {
      const auto a = from[from.size() == 1 ? 0 : i];
      const auto b = to[to.size() == 1 ? 0 : i];
      if (a == b) {
        problems_.push_back(
            {link.where, fmt::format("'{}' is linked to itself", builder_.platform().name_of(a)), {}, ""});
        return;
      }
      builder_.connect(a, b, link.kind, {link.forward, link.backward, link.latency, link.count});
    }
  }

  void find_unlinked_parts() {
    if (known_.size() == 1) return;
    for (std::size_t i = 0; i < known_.size(); ++i) {
      if (linked_.contains(known_[i])) continue;
      problems_.push_back(
          {where_[i], fmt::format("'{}' has no link", known_[i]), {}, "add it to 'links' or remove it"});
    }
  }

  const NodeDescription& node_;
  const Gpu& gpu_;
  PlatformBuilder& builder_;
  int nodes_;
  std::string prefix_;
  std::vector<std::string> known_;
  std::vector<Where> where_;
  std::set<std::string> linked_;
  std::vector<Problem> problems_;
};

bool is_one_domain(const BuiltPlatform& hardware, int nodes) {
  return hardware.nvlink_domain && hardware.nvlink_domain->nodes >= nodes;
}

void build(const BuiltPlatform& hardware, const PlatformDescription& description, const Gpu& gpu, int ranks,
           PlatformBuilder& builder) {
  const auto count = hardware.nodes_for(ranks);
  if (count > 1 && hardware.node.nics.empty() && !is_one_domain(hardware, count)) {
    refuse_at(hardware.fabric ? hardware.fabric->where : description.where,
              fmt::format("{} nodes, but a node has no NIC", count),
              "list the node's 'nics' and link them to its PCIe tree");
  }
  NodeBuilder{hardware, count, gpu, builder}.add();
  builder.platform().nodes = count;
  if (hardware.nvlink_domain) add_nvlink_domains(*hardware.nvlink_domain, builder);
  if (hardware.fabric) add_fabric(*hardware.fabric, builder);
}

}  // namespace

Platform build_platform(const PlatformDescription& description, const Gpu& gpu, int ranks) {
  PlatformBuilder builder;
  if (const auto* generated = std::get_if<GeneratedPlatform>(&description.hardware)) {
    generate(*generated, gpu, ranks, builder);
  } else {
    build(std::get<BuiltPlatform>(description.hardware), description, gpu, ranks, builder);
  }
  auto platform = std::move(builder.platform());
  platform.name = description.name;
  platform.source = description.source;
  platform.prices = description.prices;
  platform.price = description.price;
  platform.price_by_terms = description.price_by_terms;
  platform.collectives = description.collectives;
  platform.cores_per_node = description.cores;
  platform.amd_cpu = description.cpu_vendor == CpuVendor::amd;
  platform.nvls = description.nvls;
  platform.pageable_copy_rate = description.pageable_copy_rate;
  platform.eager_operation = description.eager_operation;
  return platform;
}

}  // namespace gradway
