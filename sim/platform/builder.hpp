// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/platform/description.hpp"
#include "sim/platform/platform.hpp"

namespace gradway {

/// Adds parts to a platform under construction; keeps the tables of Platform in step with each other.
class PlatformBuilder {
 public:
  /// @return the new device, or nothing if the name is taken.
  std::optional<DeviceId> add_device(std::string name, DeviceKind kind, int node);
  /// @pre `gpu` names a device of kind gpu that was just added.
  void add_gpu(DeviceId gpu, const Gpu& model);
  void add_memory(DeviceId socket, BytesPerSecond bandwidth);

  struct Rates {
    BytesPerSecond forward{};
    BytesPerSecond backward{};
    Seconds latency{};
    int count = 1;
  };
  /// Both directions of a connection, each a resource of its own.
  void connect(DeviceId a, DeviceId b, LinkKind kind, const Rates& rates);

  /// Makes what has been built so far the first of so many nodes that are alike.
  /// @param names of its parts, in their order, without the name of the node
  void repeat_node(int nodes, const std::vector<std::string>& names);

  /// Parts of the first node, and what is between nodes.
  std::optional<DeviceId> find(const std::string& name) const;
  Platform& platform() { return platform_; }

 private:
  ResourceId add_resource(Resource resource);

  Platform platform_;
  std::unordered_map<std::string, DeviceId> by_name_;
};

/// Adds made-up hardware for `ranks` GPUs. ring: each GPU to the next. star: all GPUs to one switch that is
/// never the bottleneck. leaf_spine: `gpus_per_leaf` GPUs to a leaf, each leaf to each spine.
void generate(const GeneratedPlatform& made_up, const Gpu& gpu, int ranks, PlatformBuilder& builder);

/// Adds what is between the nodes: switches, links from each NIC to its own, links between switches. A link
/// carries the payload that its wire has room for.
/// @throws ConfigError if a part of a node has the name of a switch
void add_fabric(const FabricDescription& fabric, PlatformBuilder& builder);

/// Adds an NVSwitch for each group of nodes, and the links of their GPUs to it.
void add_nvlink_domains(const NvlinkDomainDescription& domain, PlatformBuilder& builder);

}  // namespace gradway
