// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/storage_way.hpp"

#include <algorithm>

namespace gradway {

std::optional<std::vector<ResourceId>> way_over_network_card(const Routes& routes, DeviceId gpu) {
  const auto& platform = routes.platform();
  const auto node = platform.device(gpu).node;
  const auto cards = routes.nearest(gpu, DeviceKind::nic);
  const auto socket = routes.home_socket(gpu);
  if (cards.empty() || !socket) return std::nullopt;
  const auto gpus = routes.on_node(node, DeviceKind::gpu);
  const auto number = static_cast<std::size_t>(std::ranges::find(gpus, gpu) - gpus.begin());
  const auto card = cards[number % cards.size()];
  std::vector<ResourceId> way;
  for (const auto* out : routes.links_from(card)) {
    if (out->kind != LinkKind::network) continue;
    if (const auto in = routes.find(out->to, card, Routes::Over::network)) in->append_resources(way);
  }
  const auto inside = routes.find(card, *socket, Routes::Over::host);
  if (!inside) return std::nullopt;
  inside->append_resources(way);
  return way;
}

}  // namespace gradway
