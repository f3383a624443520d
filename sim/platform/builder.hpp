// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

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

}  // namespace gradway
