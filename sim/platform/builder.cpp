// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/builder.hpp"

#include "sim/base/contract.hpp"

namespace gradway {

std::optional<DeviceId> PlatformBuilder::add_device(std::string name, DeviceKind kind, int node) {
  const DeviceId id{platform_.devices.size()};
  if (!by_name_.emplace(name, id).second) return std::nullopt;
  platform_.devices.push_back({std::move(name), kind, node});
  platform_.memories.emplace_back();
  return id;
}

void PlatformBuilder::add_gpu(DeviceId gpu, const Gpu& model) {
  expects(platform_.device(gpu).kind == DeviceKind::gpu, "a GPU is a device of kind gpu");
  platform_.gpus.push_back(gpu);
  platform_.gpu_models.push_back(model);
  platform_.gpu_resources.push_back(add_resource({platform_.device(gpu).name, ResourceKind::gpu, 1}));
}

void PlatformBuilder::add_memory(DeviceId socket, BytesPerSecond bandwidth) {
  platform_.memories[socket.index()] =
      add_resource({platform_.device(socket).name + " memory", ResourceKind::host_memory, bandwidth.value()});
}

void PlatformBuilder::connect(DeviceId a, DeviceId b, LinkKind kind, const Rates& rates) {
  const auto one_way = [&](DeviceId from, DeviceId to, BytesPerSecond bandwidth) {
    const auto name = platform_.device(from).name + " -> " + platform_.device(to).name;
    const auto resource = add_resource({name, ResourceKind::link, bandwidth.value()});
    platform_.links.push_back({from, to, kind, resource, rates.latency, rates.count});
  };
  one_way(a, b, rates.forward);
  one_way(b, a, rates.backward);
}

std::optional<DeviceId> PlatformBuilder::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? std::nullopt : std::optional{found->second};
}

ResourceId PlatformBuilder::add_resource(Resource resource) {
  platform_.resources.push_back(std::move(resource));
  return ResourceId{platform_.resources.size() - 1};
}

}  // namespace gradway
