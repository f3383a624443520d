// SPDX-License-Identifier: Apache-2.0
#include "sim/nccl/transport.hpp"

#include <algorithm>

namespace gradway {

HopBuilder& HopBuilder::route(DeviceId from, DeviceId to, Routes::Over over, std::size_t label) {
  const auto path = routes_.find(from, to, over, label);
  if (!path) {
    complete_ = false;
    return *this;
  }
  path->append_resources(hop_.path);
  hop_.latency += path->latency();
  return *this;
}

HopBuilder& HopBuilder::through_memory(DeviceId socket, int times) {
  const auto memory = platform_.memories[socket.index()];
  if (memory) hop_.path.insert(hop_.path.end(), 2 * static_cast<std::size_t>(times), *memory);
  complete_ = complete_ && memory.has_value();
  return *this;
}

std::optional<Hop> HopBuilder::build(Transport transport) {
  if (!complete_) return std::nullopt;
  hop_.transport = transport;
  hop_.bandwidth = BytesPerSecond::infinite();
  for (const auto resource : hop_.path) {
    const auto uses = std::ranges::count(hop_.path, resource);
    const BytesPerSecond rate{platform_.resources[resource.index()].capacity / static_cast<double>(uses)};
    hop_.bandwidth = std::min(hop_.bandwidth, rate);
  }
  return std::move(hop_);
}

}  // namespace gradway
