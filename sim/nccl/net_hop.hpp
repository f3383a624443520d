// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "sim/nccl/transport.hpp"

namespace gradway {

/// Whether both GPUs have a NIC on their node.
bool have_nics(const Routes& routes, DeviceId a, DeviceId b);

/// A hop from one GPU over the network to another.
///
/// The NIC is the one of the rail if the GPU is near it (PXB or nearer); else, for sends and unless
/// NCCL_PXN_DISABLE, the data goes over NVLink to a GPU that is near it (PXN); else the NIC nearest to the
/// GPU, or with NCCL_CROSS_NIC 0 that of the rail, however far it is. Between a GPU and its NIC data goes
/// directly (GPUDirect RDMA) if the network can, and the path is within NCCL_NET_GDR_LEVEL (default PXB), and
/// for sends if the GPU is an A100 or later, or the node has NVLinks, or NCCL_NET_GDR_READ says so; else it
/// is written to host memory and read from there. TCP without GPUDirect also copies it between NCCL's buffers
/// and the sockets'.
/// @param rail a NIC of the node, by number; also selects the path through the fabric
/// @return empty if a part of the path is missing
/// @source NCCL 2.28.9, src/graph/paths.cc (ncclTopoCheckGdr, PXN), src/graph/search.cc (ncclTopoGetNetDev)
///         and src/transport/net.cc
std::optional<Hop> net_hop(const Routes& routes, const NetRules& rules, DeviceId from, DeviceId to,
                           std::size_t rail);

/// NICs of two GPUs between which a hop has no network path, because no switch joins their rails.
struct SeparateNics {
  DeviceId out;
  DeviceId in;
};
std::optional<SeparateNics> separate_nics(const Routes& routes, const NetRules& rules, DeviceId from,
                                          DeviceId to, std::size_t rail);

}  // namespace gradway
