// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/platform/routes.hpp"

namespace gradway {

/// The way of a copy from host memory to a GPU.
struct HostCopyWay {
  std::vector<ResourceId> resources;  ///< the memory of the GPU's socket, then the links down to the GPU
  BytesPerSecond slowest{};           ///< of these, alone
  Seconds latency{};                  ///< from the call to the first byte
};

/// @return nothing if the platform has no host memory (generated platforms)
std::optional<HostCopyWay> host_copy_way(const Routes& routes, const Platform& platform, std::size_t gpu);

}  // namespace gradway
