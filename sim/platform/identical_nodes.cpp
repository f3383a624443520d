// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/identical_nodes.hpp"

#include <algorithm>

#include "sim/base/contract.hpp"

namespace gradway {

IdenticalNodes::IdenticalNodes(const Platform& platform) {
  const auto& size = platform.node_size;
  const auto nodes = static_cast<std::size_t>(platform.nodes);
  const bool has_one_switch = platform.devices.size() == nodes * size.devices + 1;
  if (size.devices == 0 || nodes < 2 || !has_one_switch || !platform.nvlink_domains.empty()) return;
  inside_ = size.resources;
  first_between_ = nodes * size.resources;
  built_ = platform.resources.size() - platform.loading_resources;
  between_ = (built_ - first_between_) / nodes;
  holds_ = have_identical_links(platform);
}

/// Whether each node has the same links to the switch as the first one.
bool IdenticalNodes::have_identical_links(const Platform& platform) const {
  const auto nodes = static_cast<std::size_t>(platform.nodes);
  const auto first = nodes * platform.node_size.links;
  const auto links = (platform.links.size() - first) / nodes;
  if (first + nodes * links != platform.links.size()) return false;
  if (first_between_ + nodes * between_ != built_) return false;
  const auto the_switch = platform.devices.size() - 1;
  for (std::size_t node = 0; node < nodes; ++node) {
    for (std::size_t i = 0; i < links; ++i) {
      const auto& expected = platform.links[first + i];
      const auto& link = platform.links[first + node * links + i];
      const auto end = [&](DeviceId id) {
        return id.index() == the_switch ? id : DeviceId{id.index() + node * platform.node_size.devices};
      };
      const auto& resource = platform.resources[link.resource.index()];
      const auto& expected_resource = platform.resources[expected.resource.index()];
      const bool is_identical =
          link.from == end(expected.from) && link.to == end(expected.to) && link.kind == expected.kind &&
          link.latency == expected.latency && link.count == expected.count &&
          link.resource.index() == expected.resource.index() + node * between_ &&
          resource.capacity == expected_resource.capacity && resource.speed == expected_resource.speed &&
          resource.share == expected_resource.share;
      if (!is_identical) return false;
    }
  }
  return true;
}

std::vector<ResourceId> IdenticalNodes::on_nodes(const std::vector<ResourceId>& path,
                                                 const std::vector<std::uint32_t>& from,
                                                 const std::vector<std::uint32_t>& to) const {
  std::vector<ResourceId> result;
  result.reserve(path.size());
  for (const auto id : path) {
    const auto node = node_of(id);
    const auto place = std::ranges::lower_bound(from, node);
    expects(place != from.end() && *place == node, "a path must stay on the nodes of its ranks");
    result.push_back(on_node(id, to[static_cast<std::size_t>(place - from.begin())]));
  }
  return result;
}

}  // namespace gradway
