// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/cost/calibration.hpp"
#include "sim/cost/nccl_settings.hpp"
#include "sim/platform/routes.hpp"

namespace gradway {

/// The transport NCCL takes from one GPU to another: P2P if they are on one node (or NVSwitches join their
/// nodes), the path is within the P2P level (default PXB) and it is not switched off; else SHM on one node
/// unless switched off; else NET if both have a NIC; else none. On platforms with ideal collectives always
/// P2P.
/// @source NCCL 2.28.9, src/graph/paths.cc and src/transport/{p2p,shm}.cc
Transport choose_transport(const Routes& routes, const Platform& platform, const NcclSettings& settings,
                           DeviceId a, DeviceId b);

/// One hop of a ring or tree: the resources that each byte uses, in order; a resource named twice is used
/// twice.
struct Hop {
  Transport transport = Transport::none;
  bool nvlink = false;
  bool relayed = false;  ///< over NVLinks of a GPU between the two
  std::vector<ResourceId> path;
  BytesPerSecond bandwidth{};  ///< of the slowest part, alone
  Seconds latency{};           ///< of the links
};

/// May NVLinks lead through a GPU between? Its paths are worse than one NVLink, so a P2P level of NVL leaves
/// them out; SHM and PCIe, within one switch or not, come behind.
bool may_relay(const Platform& platform, const NcclSettings& settings);

/// The way of a hop. P2P: the links between the GPUs, or both of the relay's. SHM: from the sender into the
/// host memory next to the receiver, and from there to the receiver: the memory is written and read. NET:
/// `net_hop`.
/// @param relay a GPU that is joined with both over NVLinks, which the two are not
/// @param rail which NIC of a node to use, and which way through the fabric
/// @return nothing if the two GPUs cannot reach each other under these settings
std::optional<Hop> make_hop(const Routes& routes, const Platform& platform, const NcclSettings& settings,
                            DeviceId from, DeviceId to, std::size_t rail, std::optional<DeviceId> relay = {});

/// Adds the parts of a hop one after the other; forgets all of them if one is missing.
class HopBuilder {
 public:
  HopBuilder(const Routes& routes, const Platform& platform) : routes_{routes}, platform_{platform} {}

  HopBuilder& way(DeviceId from, DeviceId to, Routes::Over over, std::size_t label = 0);
  /// Host memory is written and read, so many times over.
  HopBuilder& through_memory(DeviceId socket, int times = 1);
  /// @return nothing if a part was missing
  std::optional<Hop> build(Transport transport);

 private:
  const Routes& routes_;
  const Platform& platform_;
  Hop hop_;
  bool complete_ = true;
};

}  // namespace gradway
