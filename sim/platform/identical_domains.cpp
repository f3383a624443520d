// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/identical_domains.hpp"

#include <algorithm>

namespace gradway {

IdenticalDomains::IdenticalDomains(const Platform& platform) {
  const auto& size = platform.node_size;
  const auto nodes = static_cast<std::size_t>(platform.nodes);
  const bool joins_nodes = !platform.nvlink_domains.empty();
  if (joins_nodes) nodes_ = static_cast<std::size_t>(std::ranges::count(platform.nvlink_domains, 0));
  domains_ = nodes / nodes_;
  devices_ = nodes_ * size.devices;
  const auto switches = (joins_nodes ? domains_ : 0) + 1;
  const bool has_one_switch = platform.devices.size() == nodes * size.devices + switches;
  if (size.devices == 0 || domains_ < 2 || nodes % nodes_ != 0 || !has_one_switch) return;
  const auto built = platform.resources.size() - platform.loading_resources;
  inside_ = {0, nodes_ * size.resources};
  nvlinks_ = {nodes * size.resources, joins_nodes ? 2 * platform.gpus.size() / domains_ : 0,
              inside_.of_domain};
  network_.first = nvlinks_.first + domains_ * nvlinks_.of_domain;
  network_.before = nvlinks_.before + nvlinks_.of_domain;
  network_.of_domain = (built - network_.first) / domains_;
  const auto first_link = nodes * size.links;
  if (network_.first + domains_ * network_.of_domain != built ||
      first_link + domains_ * (nvlinks_.of_domain + network_.of_domain) != platform.links.size())
    return;
  holds_ = have_identical_links(platform, nvlinks_, first_link) &&
           have_identical_links(platform, network_, first_link + domains_ * nvlinks_.of_domain);
}

/// Whether each domain has the same links to switches as the first one, each with a resource of its own.
bool IdenticalDomains::have_identical_links(const Platform& platform, const Range& resources,
                                            std::size_t first_link) const {
  const auto first_switch = domains_ * devices_;
  const auto the_switch = platform.devices.size() - 1;
  for (std::size_t domain = 0; domain < domains_; ++domain) {
    const auto end = [&](DeviceId id) {
      if (id.index() == the_switch) return id;
      return DeviceId{id.index() + domain * (id.index() < first_switch ? devices_ : 1)};
    };
    for (std::size_t i = 0; i < resources.of_domain; ++i) {
      const auto& expected = platform.links[first_link + i];
      const auto& link = platform.links[first_link + domain * resources.of_domain + i];
      const auto& resource = platform.resources[link.resource.index()];
      const auto& expected_resource = platform.resources[expected.resource.index()];
      const bool is_identical =
          link.from == end(expected.from) && link.to == end(expected.to) && link.kind == expected.kind &&
          link.latency == expected.latency && link.count == expected.count &&
          link.resource.index() == resources.first + domain * resources.of_domain + i &&
          resource.capacity == expected_resource.capacity && resource.speed == expected_resource.speed &&
          resource.share == expected_resource.share;
      if (!is_identical) return false;
    }
  }
  return true;
}

}  // namespace gradway
