// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/platform/description.hpp"
#include "sim/platform/platform.hpp"

namespace gradway {

/// Adds parts to a platform under construction and keeps its tables consistent.
class PlatformBuilder {
 public:
  /// @return the new device, or nothing if the name is already used
  std::optional<DeviceId> add_device(std::string name, DeviceKind kind, int node);
  /// @pre `gpu` is a device of kind gpu that was just added
  void add_gpu(DeviceId gpu, const Gpu& model);
  void add_memory(DeviceId socket, BytesPerSecond bandwidth);

  struct Rates {
    BytesPerSecond forward{};
    BytesPerSecond backward{};
    Seconds latency{};
    int count = 1;
  };
  /// Adds both directions of a connection, each with its own resource.
  void connect(DeviceId a, DeviceId b, LinkKind kind, const Rates& rates);

  /// Makes everything built so far the first of `nodes` identical nodes.
  /// @param names names of the node's parts, in order, without the prefix of the node
  void repeat_node(int nodes, const std::vector<std::string>& names);

  /// Finds parts of the first node and of the fabric.
  std::optional<DeviceId> find(const std::string& name) const;
  Platform& platform() { return platform_; }

 private:
  ResourceId add_resource(Resource resource);

  Platform platform_;
  std::unordered_map<std::string, DeviceId> by_name_;
};

/// Adds generated hardware for `ranks` GPUs. ring: each GPU is linked to the next. star: all GPUs are linked
/// to one switch, which is never the bottleneck. leaf_spine: `gpus_per_leaf` GPUs are linked to a leaf, and
/// each leaf to each spine.
void generate(const GeneratedPlatform& generated, const Gpu& gpu, int ranks, PlatformBuilder& builder);

/// Adds the fabric between nodes: switches, a link from each NIC to its switch, and links between switches.
/// The bandwidth of a link is its payload rate.
/// @throws ConfigError if a part of a node has the same name as a switch
void add_fabric(const FabricDescription& fabric, PlatformBuilder& builder);

/// Adds an NVSwitch for each NVLink domain and the links of its GPUs to it.
void add_nvlink_domains(const NvlinkDomainDescription& domain, PlatformBuilder& builder);

}  // namespace gradway
