// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "sim/base/units.hpp"
#include "sim/platform/routes.hpp"

namespace gradway {

enum class Algorithm { ring, tree, nvls, nvls_tree, collnet_direct, collnet_chain };
constexpr std::size_t algorithm_count = 6;
enum class Protocol { ll, ll128, simple };

/// The values of NCCL's variables, by NCCL's own names and meanings.
struct NcclSettings {
  bool p2p_disable = false;
  bool shm_disable = false;
  std::optional<PathType> p2p_level;      ///< farthest path on which P2P is used; empty: NCCL's default
  std::optional<PathType> net_gdr_level;  ///< farthest path on which GPUDirect RDMA is used
  bool net_gdr_c2c = true;                ///< GPUDirect RDMA through a CPU with C2C links to its GPUs
  std::optional<bool> net_gdr_read;       ///< GPUDirect RDMA for sends, too; empty: NCCL's default
  bool pxn_disable = false;
  /// 0: data leaves a node by the NIC by which it entered (rings), or by that of the receiver's rail (pairs).
  /// 1: rings leave by the NIC nearest to their last GPU. 2: only where they cannot leave by that of their
  /// entry.
  int cross_nic = 2;
  bool nvb_disable = false;
  bool nvls = true;
  bool collnet = false;               ///< network switches reduce (SHARP)
  std::optional<int> socket_threads;  ///< per TCP connection
  std::optional<int> sockets_per_thread;
  std::string algo;  ///< "RING,TREE", "^TREE"; empty: any
  std::string proto;
  std::optional<int> min_channels;
  std::optional<int> max_channels;
  Bytes buffer = 4_MiB;  ///< of a channel, for Simple
  int queue_pairs = 1;   ///< of each connection of RDMA

  bool has_channel_limits() const { return min_channels || max_channels; }
  bool allows(Algorithm algorithm) const;
  bool allows(Protocol protocol) const;
};

/// @pre the values are valid, as checked when the scenario was read
NcclSettings nccl_settings(const std::map<std::string, std::string>& variables);

/// Whether a variable affects predictions. All others are accepted with a warning.
bool is_modelled(const std::string& variable);

}  // namespace gradway
