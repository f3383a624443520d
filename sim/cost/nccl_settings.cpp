// SPDX-License-Identifier: Apache-2.0
#include "sim/cost/nccl_settings.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "sim/base/contract.hpp"

namespace gradway {
namespace {

/// NCCL's levels. Numeric levels were converted when the scenario was read. LOC excludes NVLink, too. NCCL
/// has no NODE level; its PHB includes it.
PathType level(const std::string& value) {
  static constexpr std::array<std::pair<std::string_view, PathType>, 6> levels{{
      {"LOC", PathType::self},
      {"NVL", PathType::nvlink},
      {"PIX", PathType::pix},
      {"PXB", PathType::pxb},
      {"PHB", PathType::node},
      {"SYS", PathType::sys},
  }};
  const auto entry =
      std::ranges::find(levels, std::string_view{value}, &std::pair<std::string_view, PathType>::first);
  expects(entry != levels.end(), "a level of NCCL must be valid");
  return entry->second;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// Whether a list in NCCL's syntax allows a name: "RING,TREE" allows these, "^TREE" all others.
bool listed(const std::string& list, std::string_view name) {
  if (list.empty()) return true;
  const bool excludes = list.front() == '^';
  bool is_listed = false;
  std::string_view remaining{list};
  if (excludes) remaining.remove_prefix(1);
  while (!remaining.empty()) {
    const auto comma = std::min(remaining.find(','), remaining.size());
    is_listed = is_listed || remaining.substr(0, comma) == name;
    remaining.remove_prefix(std::min(comma + 1, remaining.size()));
  }
  return is_listed != excludes;
}

}  // namespace

bool NcclSettings::allows(Algorithm algorithm) const {
  constexpr std::array<std::string_view, algorithm_count> names{"RING",     "TREE",          "NVLS",
                                                                "NVLSTREE", "COLLNETDIRECT", "COLLNETCHAIN"};
  return listed(algo, names[static_cast<std::size_t>(algorithm)]);
}

bool NcclSettings::allows(Protocol protocol) const {
  constexpr std::array<std::string_view, 3> names{"LL", "LL128", "SIMPLE"};
  return listed(proto, names[static_cast<std::size_t>(protocol)]);
}

NcclSettings nccl_settings(const std::map<std::string, std::string>& variables) {
  NcclSettings settings;
  for (const auto& [name, value] : variables) {
    if (name == "NCCL_P2P_DISABLE") settings.p2p_disable = value != "0";
    if (name == "NCCL_SHM_DISABLE") settings.shm_disable = value != "0";
    if (name == "NCCL_P2P_LEVEL") settings.p2p_level = level(value);
    if (name == "NCCL_NET_GDR_LEVEL") settings.net_gdr_level = level(value);
    if (name == "NCCL_NET_GDR_C2C") settings.net_gdr_c2c = value != "0";
    if (name == "NCCL_NET_GDR_READ") settings.net_gdr_read = value != "0";
    if (name == "NCCL_NVB_DISABLE") settings.nvb_disable = value != "0";
    if (name == "NCCL_PXN_DISABLE") settings.pxn_disable = value != "0";
    if (name == "NCCL_CROSS_NIC") settings.cross_nic = std::stoi(value);
    if (name == "NCCL_NVLS_ENABLE") settings.nvls = value != "0";
    if (name == "NCCL_COLLNET_ENABLE") settings.collnet = value != "0";
    if (name == "NCCL_SOCKET_NTHREADS") settings.socket_threads = std::stoi(value);
    if (name == "NCCL_NSOCKS_PERTHREAD") settings.sockets_per_thread = std::stoi(value);
    if (name == "NCCL_ALGO") settings.algo = upper(value);
    if (name == "NCCL_PROTO") settings.proto = upper(value);
    if (name == "NCCL_MIN_NCHANNELS") settings.min_channels = std::stoi(value);
    if (name == "NCCL_MAX_NCHANNELS") settings.max_channels = std::stoi(value);
    if (name == "NCCL_BUFFSIZE") settings.buffer = Bytes{std::stod(value)};
    if (name == "NCCL_IB_QPS_PER_CONNECTION") settings.queue_pairs = std::stoi(value);
  }
  return settings;
}

bool is_modelled(const std::string& variable) {
  static constexpr std::array<std::string_view, 19> modelled{
      "NCCL_P2P_DISABLE",           "NCCL_SHM_DISABLE",   "NCCL_P2P_LEVEL",      "NCCL_NET_GDR_LEVEL",
      "NCCL_NET_GDR_READ",          "NCCL_PXN_DISABLE",   "NCCL_NVB_DISABLE",    "NCCL_NVLS_ENABLE",
      "NCCL_SOCKET_NTHREADS",       "NCCL_ALGO",          "NCCL_PROTO",          "NCCL_NSOCKS_PERTHREAD",
      "NCCL_MIN_NCHANNELS",         "NCCL_MAX_NCHANNELS", "NCCL_COLLNET_ENABLE", "NCCL_BUFFSIZE",
      "NCCL_IB_QPS_PER_CONNECTION", "NCCL_NET_GDR_C2C",   "NCCL_CROSS_NIC"};
  return std::ranges::find(modelled, std::string_view{variable}) != modelled.end();
}

}  // namespace gradway
