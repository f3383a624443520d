// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/platform/routes.hpp"

namespace gradway {

/// The resources that a copy or background traffic uses.
struct TransferPath {
  std::vector<ResourceId> resources;
  BytesPerSecond slowest{};  ///< least rate of the resources; for copies as built, without what-if speeds
  Seconds latency{};         ///< copies only: from the call to the first byte
};

/// Weight of a copy engine's flow against other flows of the same link or memory: it keeps more requests in
/// flight than the threads of a collective.
/// @source own measurement, 2026-11-21, H200: DDP of vit_l_32 through host memory with a concurrent prefetch
///         of 1 GB per step takes 19.9 ms longer on 4 GPUs and 11.5 ms on 3. Equal weights give 10.3 and
///         1.5 ms, 6 to 1 gives 12.5 and 11.7 ms
inline constexpr double copy_engine_weight = 6;

/// The path of a copy from host memory to a GPU: the memory of the GPU's socket, then the links to the GPU.
/// @return nothing if the platform has no host memory (generated platforms)
std::optional<TransferPath> path_from_host(const Routes& routes, const Platform& platform, std::size_t gpu);

/// The path of a copy from a GPU to host memory: the links from the GPU, then the memory.
std::optional<TransferPath> path_to_host(const Routes& routes, const Platform& platform, std::size_t gpu);

/// The path of background traffic: the first of the routes with the fewest hops.
/// @return nothing if no links connect the two devices
std::optional<TransferPath> background_path(const Routes& routes, DeviceId from, DeviceId to);

/// The path of data that a GPU's process reads from storage on the network: from the switch of the NIC that
/// is nearest to the GPU over the NIC to the GPU's socket. GPUs that are equally near to several NICs are
/// spread over them. Uplinks between switches are left out, since platform files do not say which switch
/// storage is connected to.
/// @return nothing if the node has no NIC, or the GPU no socket
std::optional<std::vector<ResourceId>> path_over_nic(const Routes& routes, DeviceId gpu);

}  // namespace gradway
