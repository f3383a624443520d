// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/platform/alike_nodes.hpp"
#include "sim/platform/platform.hpp"
#include "sim/platform/route_search.hpp"

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

/// In the order of the enum; behind that of NVLink stands how many there are.
inline constexpr std::array<std::string_view, 8> path_words{"X",   "NV",   "PIX", "PXB",
                                                            "PHB", "NODE", "SYS", "NET"};

/// Ways through one platform. Holds a reference: the platform must outlive it. For one thread: what was found
/// is kept.
///
/// Linear in what a search must see, not in the platform: it starts at both ends, enters no GPU or NIC that
/// it may not pass, and what was found on one of several nodes that are alike is not sought on the others.
class Routes {
 public:
  /// Which connections a route may use.
  using Over = RouteSearch::Over;

  explicit Routes(const Platform& platform);

  const Platform& platform() const { return platform_; }
  /// Compared link by link when it is first asked for.
  const AlikeNodes& alike_nodes() const;

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
  /// The links that start at a device, in no particular order.
  std::vector<const Link*> links_from(DeviceId device) const;
  /// The socket a device hangs on. @return nothing if no socket is in reach.
  std::optional<DeviceId> home_socket(DeviceId device) const;
  /// Devices of a kind on one node, in order.
  std::vector<DeviceId> on_node(int node, DeviceKind kind) const;
  /// Of these on the node of a device those that none is nearer to it than, in order.
  std::vector<DeviceId> nearest(DeviceId device, DeviceKind kind) const;

 private:
  /// Two parts of one node, counted from its first part, and what was asked of them.
  struct Question {
    std::size_t a;
    std::size_t b;
    Over over;
    std::size_t label;
    auto operator<=>(const Question&) const = default;
  };
  /// Links of a way, counted from the first link of the node; nothing if there is no way.
  using Way = std::optional<std::vector<std::size_t>>;

  std::optional<Question> question(DeviceId a, DeviceId b, Over over, std::size_t label) const;
  std::optional<Route> seek(DeviceId from, DeviceId to, Over over, std::size_t label) const;
  int count_nvlinks(DeviceId a, DeviceId b) const;
  PathType measure_path(DeviceId a, DeviceId b) const;

  const Platform& platform_;
  mutable RouteSearch search_;
  mutable std::optional<AlikeNodes> alike_nodes_;
  std::vector<std::vector<DeviceId>> nodes_;  ///< devices by node; empty where nodes are alike
  mutable std::map<Question, Way> ways_;
  mutable std::map<Question, int> nvlinks_;
  mutable std::map<Question, PathType> path_types_;
  mutable std::map<std::size_t, std::optional<std::size_t>>
      sockets_;  ///< by part of a node, both counted in it
};

/// The cell of `nvidia-smi topo -m` for a type: "X", "NV12", "PIX", ...
std::string topo_label(PathType type, int nvlinks);

}  // namespace gradway
