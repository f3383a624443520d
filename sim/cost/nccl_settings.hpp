// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "sim/platform/routes.hpp"

namespace gradway {

enum class Algorithm { ring, tree, nvls, nvls_tree, collnet_direct, collnet_chain };
constexpr std::size_t algorithm_count = 6;
enum class Protocol { ll, ll128, simple };

/// NCCL's variables as a run understands them. Each has NCCL's own name and meaning.
struct NcclSettings {
  bool p2p_disable = false;
  bool shm_disable = false;
  std::optional<PathType> p2p_level;      ///< farthest path on which P2P is used; absent: NCCL's default
  std::optional<PathType> net_gdr_level;  ///< farthest path on which GPUDirect RDMA is used
  std::optional<bool> net_gdr_read;       ///< GPUDirect RDMA for sends too; absent: NCCL's default
  bool pxn_disable = false;
  bool nvb_disable = false;
  bool nvls = true;
  bool collnet = false;               ///< switches of the network reduce (SHARP)
  std::optional<int> socket_threads;  ///< of each TCP connection of NCCL
  std::optional<int> sockets_a_thread;
  std::string algo;  ///< "RING,TREE", "^TREE"; empty: any
  std::string proto;
  std::optional<int> min_channels;
  std::optional<int> max_channels;

  bool has_channel_limits() const { return min_channels || max_channels; }
  bool allows(Algorithm algorithm) const;
  bool allows(Protocol protocol) const;
};

/// @pre the variables were checked when the scenario was read.
NcclSettings nccl_settings(const std::map<std::string, std::string>& variables);

/// The variables that change a prediction; others are accepted and named in a warning.
bool is_modelled(const std::string& variable);

}  // namespace gradway
