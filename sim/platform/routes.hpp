// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/platform/platform.hpp"

namespace gradway {

/// How near two devices are, best first; the words of `nvidia-smi topo -m`.
enum class PathType {
  self,    ///< X
  nvlink,  ///< NV#: bonded NVLinks, or NVLinks to a common NVSwitch
  pix,     ///< PIX: at most one PCIe switch
  pxb,     ///< PXB: several PCIe switches, not the host bridge
  phb,     ///< PHB: one host bridge
  node,    ///< NODE: two host bridges of one socket
  sys,     ///< SYS: the link between sockets
  net,     ///< through the fabric
};

/// A way through the platform, in the order of travel.
struct Route {
  std::vector<const Link*> links;

  Seconds latency() const;
  void append_resources(std::vector<ResourceId>& path) const;
};

/// Ways through one platform. Holds a reference: the platform must outlive it.
class Routes {
 public:
  /// Which connections a route may use.
  enum class Over { nvlink, host, network, any };

  explicit Routes(const Platform& platform);

  const Platform& platform() const { return platform_; }

  /// The way with the fewest hops; GPUs and NICs in between only if there is no other. Several ways of equal
  /// length are dealt out by `label` (as a fabric's ECMP does by flow).
  std::optional<Route> find(DeviceId from, DeviceId to, Over over, std::size_t label = 0) const;

  /// How near two GPUs (or a GPU and a NIC) are, preferring NVLink.
  PathType path_type(DeviceId a, DeviceId b) const;
  /// Bonded NVLinks between two GPUs; 0 if there are none.
  int nvlinks(DeviceId a, DeviceId b) const;
  /// The links of a GPU to its NVSwitch and back. @return nothing if it has none
  struct SwitchLinks {
    const Link* up = nullptr;
    const Link* down = nullptr;
  };
  std::optional<SwitchLinks> links_to_nvswitch(DeviceId gpu) const;
  /// The socket a device hangs on. @return nothing if no socket is in reach.
  std::optional<DeviceId> home_socket(DeviceId device) const;
  /// Devices of a kind on one node, in order.
  std::vector<DeviceId> on_node(int node, DeviceKind kind) const;

 private:
  /// Hops from each device to one, as far as they were counted.
  using Hops = std::vector<int>;
  Hops hops_to(DeviceId to, std::optional<DeviceId> from, Over over, bool through_endpoints) const;
  /// The link between two neighbours; spares the search. @return nullptr if there is none
  const Link* direct_link(DeviceId from, DeviceId to, Over over, std::size_t label) const;
  Route walk(DeviceId from, DeviceId to, const Hops& hops, Over over, std::size_t label) const;

  const Platform& platform_;
  std::vector<std::vector<const Link*>> into_;    ///< links by the device they end at
  std::vector<std::vector<const Link*>> out_of_;  ///< ... and start at, in the same order of the platform
  std::vector<std::vector<DeviceId>> nodes_;      ///< devices by node
};

/// The cell of `nvidia-smi topo -m` for a type: "X", "NV12", "PIX", ...
std::string topo_label(PathType type, int nvlinks);

}  // namespace gradway
