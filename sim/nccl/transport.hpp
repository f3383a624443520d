// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/cost/calibration.hpp"
#include "sim/cost/nccl_settings.hpp"
#include "sim/platform/routes.hpp"

namespace gradway {

/// NCCL's transport from one GPU to another: P2P if they are on one node (or NVSwitches join their nodes),
/// the path is within the P2P level (default PXB) and P2P is enabled; else SHM on one node unless disabled;
/// else NET if both have a NIC; else none. On platforms with ideal collectives always P2P.
/// @source NCCL 2.28.9, src/graph/paths.cc and src/transport/{p2p,shm}.cc
Transport choose_transport(const Routes& routes, const Platform& platform, const NcclSettings& settings,
                           DeviceId a, DeviceId b);

/// One hop of a ring or tree: the resources that each byte uses, in order, as often as it uses them.
struct Hop {
  Transport transport = Transport::none;
  bool nvlink = false;
  bool relayed = false;  ///< over the NVLinks of another GPU
  std::vector<ResourceId> path;
  BytesPerSecond bandwidth{};  ///< of the slowest part, alone
  Seconds latency{};           ///< of the links
};

/// How hops over the network choose NICs.
struct NetRules {
  const NcclSettings& settings;
  /// GPUs of the platform that may forward data to their NICs (PXN), in ascending order; null: all.
  const std::vector<std::size_t>* proxies = nullptr;
  bool leaves_by_own_nic = false;  ///< by the NIC nearest to the sender: rings with NCCL_CROSS_NIC 1
};

/// Whether a GPU may relay between two others over NVLinks. Such paths are worse than one NVLink, so a P2P
/// level of NVL excludes them; they are preferred to SHM and PCIe.
bool may_relay(const Platform& platform, const NcclSettings& settings);

/// The path of a hop. P2P: the links between the GPUs, or those to and from the relay. SHM: from the sender
/// to the host memory near the receiver, and from there to the receiver: the memory is written and read. NET:
/// `net_hop`.
/// @param relay a GPU with NVLinks to both, which have none between them
/// @param rail the NIC of a node; also selects the path through the fabric
/// @return empty if the two GPUs cannot reach each other with these settings
std::optional<Hop> make_hop(const Routes& routes, const Platform& platform, const NetRules& rules,
                            DeviceId from, DeviceId to, std::size_t rail, std::optional<DeviceId> relay = {});

/// Builds a hop from its parts, in order; there is no hop if a part is missing.
class HopBuilder {
 public:
  HopBuilder(const Routes& routes, const Platform& platform) : routes_{routes}, platform_{platform} {}

  HopBuilder& route(DeviceId from, DeviceId to, Routes::Over over, std::size_t label = 0);
  /// Writes and reads host memory this many times.
  HopBuilder& through_memory(DeviceId socket, int times = 1);
  /// @return empty if a part is missing
  std::optional<Hop> build(Transport transport);

 private:
  const Routes& routes_;
  const Platform& platform_;
  Hop hop_;
  bool complete_ = true;
};

}  // namespace gradway
