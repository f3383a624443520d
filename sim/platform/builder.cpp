// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/builder.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/contract.hpp"

namespace gradway {

std::optional<DeviceId> PlatformBuilder::add_device(std::string name, DeviceKind kind, int node) {
  const DeviceId id{platform_.devices.size()};
  if (!by_name_.emplace(name, id).second) return std::nullopt;
  platform_.device_names.others.push_back(std::move(name));
  platform_.devices.push_back({kind, node});
  platform_.memories.emplace_back();
  return id;
}

void PlatformBuilder::add_gpu(DeviceId gpu, const Gpu& model) {
  expects(platform_.device(gpu).kind == DeviceKind::gpu, "a GPU must be a device of kind gpu");
  platform_.gpus.push_back(gpu);
  if (platform_.gpu_models.empty()) platform_.gpu_models.push_back(model);
  platform_.gpu_resources.push_back(
      add_resource({ResourceKind::gpu, static_cast<std::uint32_t>(gpu.index()), 1}));
}

void PlatformBuilder::add_memory(DeviceId socket, BytesPerSecond bandwidth) {
  platform_.memories[socket.index()] = add_resource(
      {ResourceKind::host_memory, static_cast<std::uint32_t>(socket.index()), bandwidth.value()});
}

void PlatformBuilder::connect(DeviceId a, DeviceId b, LinkKind kind, const Rates& rates) {
  const auto one_way = [&](DeviceId from, DeviceId to, BytesPerSecond bandwidth) {
    const auto link = static_cast<std::uint32_t>(platform_.links.size());
    const auto resource = add_resource({ResourceKind::link, link, bandwidth.value()});
    platform_.links.push_back({from, to, kind, resource, rates.latency, rates.count});
  };
  one_way(a, b, rates.forward);
  one_way(b, a, rates.backward);
}

void PlatformBuilder::repeat_node(int nodes, const std::vector<std::string>& names) {
  auto& platform = platform_;
  const NodeSize size{platform.devices.size(), platform.links.size(), platform.resources.size()};
  const auto gpus = platform.gpus.size();
  expects(names.size() == size.devices, "each part of a node must have a name");
  const auto count = static_cast<std::size_t>(nodes);
  platform.node_size = size;
  if (count > 1) platform.device_names = {names, count, {}};
  // Reserves room for a switch and its links, too, since the tables of a large platform are expensive to
  // copy.
  const auto nics = static_cast<std::size_t>(std::ranges::count(
      platform.devices, DeviceKind::nic, [](const Device& device) { return device.kind; }));
  platform.devices.reserve(count * size.devices + 1);
  platform.memories.reserve(count * size.devices + 1);
  platform.links.reserve(count * (size.links + 2 * nics));
  platform.resources.reserve(count * (size.resources + 2 * nics));
  for (std::size_t node = 1; node < count; ++node) {
    const auto device = [&](DeviceId id) { return DeviceId{id.index() + node * size.devices}; };
    const auto resource = [&](ResourceId id) { return ResourceId{id.index() + node * size.resources}; };
    for (std::size_t i = 0; i < size.devices; ++i) {
      platform.devices.push_back({platform.devices[i].kind, static_cast<int>(node)});
      const auto memory = platform.memories[i];
      platform.memories.push_back(memory ? std::optional{resource(*memory)} : std::nullopt);
    }
    for (std::size_t i = 0; i < size.links; ++i) {
      auto link = platform.links[i];
      link.from = device(link.from);
      link.to = device(link.to);
      link.resource = resource(link.resource);
      platform.links.push_back(link);
    }
    for (std::size_t i = 0; i < size.resources; ++i) {
      auto same = platform.resources[i];
      const auto step = same.kind == ResourceKind::link ? size.links : size.devices;
      same.of += static_cast<std::uint32_t>(node * step);
      platform.resources.push_back(same);
    }
    for (std::size_t i = 0; i < gpus; ++i) {
      platform.gpus.push_back(device(platform.gpus[i]));
      platform.gpu_resources.push_back(resource(platform.gpu_resources[i]));
    }
  }
}

std::optional<DeviceId> PlatformBuilder::find(const std::string& name) const {
  const auto entry = by_name_.find(name);
  return entry == by_name_.end() ? std::nullopt : std::optional{entry->second};
}

ResourceId PlatformBuilder::add_resource(Resource resource) {
  platform_.resources.push_back(resource);
  return ResourceId{platform_.resources.size() - 1};
}

}  // namespace gradway
