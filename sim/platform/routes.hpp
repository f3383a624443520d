// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/platform/platform.hpp"
#include "sim/platform/route_search.hpp"

namespace gradway {

/// The kind of path between two devices, nearest first, as `nvidia-smi topo -m` classifies it.
enum class PathType {
  self,    ///< X
  nvlink,  ///< NV#: bonded NVLinks, or NVLinks to a common NVSwitch
  pix,     ///< PIX: at most one PCIe switch
  pxb,     ///< PXB: several PCIe switches, but no host bridge
  phb,     ///< PHB: one host bridge
  node,    ///< NODE: two host bridges of one socket
  sys,     ///< SYS: the link between sockets
  net,     ///< NET: the fabric
};

/// Labels in the order of the enum. The number of NVLinks is appended to "NV".
inline constexpr std::array<std::string_view, 8> path_words{"X",   "NV",   "PIX", "PXB",
                                                            "PHB", "NODE", "SYS", "NET"};

/// Routes through one platform, which must outlive this object. Results are cached, so that only one thread
/// may use it.
///
/// The cost of a search does not grow with the platform: it starts at both ends, does not enter GPUs or NICs
/// that it must not pass, and results for one of several identical nodes are reused for the others.
class Routes {
 public:
  /// Which connections a route may use.
  using Over = RouteSearch::Over;

  explicit Routes(const Platform& platform);

  const Platform& platform() const { return platform_; }
  const IdenticalDomains& identical_domains() const { return search_.identical_domains(); }

  /// The route with the fewest hops. It passes through GPUs and NICs only if there is no other route. `label`
  /// selects among routes of equal length, as ECMP in a fabric does by flow.
  std::optional<Route> find(DeviceId from, DeviceId to, Over over, std::size_t label = 0) const;

  /// The path type of two GPUs, or of a GPU and a NIC; NVLink is preferred.
  PathType path_type(DeviceId a, DeviceId b) const;
  /// Number of bonded NVLinks between two GPUs; may be 0.
  int nvlinks(DeviceId a, DeviceId b) const;
  /// The links of a GPU to its NVSwitch and back. @return nothing if it has no NVSwitch
  struct SwitchLinks {
    const Link* up = nullptr;
    const Link* down = nullptr;
  };
  std::optional<SwitchLinks> links_to_nvswitch(DeviceId gpu) const;
  /// The links that start at a device, in no particular order.
  std::vector<const Link*> links_from(DeviceId device) const;
  /// The socket that a device is connected to. @return nothing if there is none
  std::optional<DeviceId> home_socket(DeviceId device) const;
  /// Devices of a kind on one node, in order.
  std::vector<DeviceId> on_node(int node, DeviceKind kind) const;
  /// Devices of a kind on the node of a device that are nearest to it by path type, in order.
  std::vector<DeviceId> nearest(DeviceId device, DeviceKind kind) const;

 private:
  /// Cache key: two parts of a node by their offset in it, and what was asked about them.
  struct Question {
    std::size_t a;
    std::size_t b;
    Over over;
    std::size_t label;
    auto operator<=>(const Question&) const = default;
  };
  /// Links of a route by their offset in the node; nothing if there is no route.
  using RouteInNode = std::optional<std::vector<std::size_t>>;

  std::optional<Question> question(DeviceId a, DeviceId b, Over over, std::size_t label) const;
  std::optional<Route> seek(DeviceId from, DeviceId to, Over over, std::size_t label) const;
  int count_nvlinks(DeviceId a, DeviceId b) const;
  PathType measure_path(DeviceId a, DeviceId b) const;

  const Platform& platform_;
  mutable RouteSearch search_;
  std::vector<std::vector<DeviceId>> nodes_;  ///< devices by node; empty if nodes are identical
  mutable std::map<Question, RouteInNode> routes_;
  mutable std::map<Question, int> nvlinks_;
  mutable std::map<Question, PathType> path_types_;
  /// By part of a node; both as offsets in the node.
  mutable std::map<std::size_t, std::optional<std::size_t>> sockets_;
};

/// The label of a path type in `nvidia-smi topo -m`: "X", "NV12", "PIX", ...
std::string topo_label(PathType type, int nvlinks);

}  // namespace gradway
