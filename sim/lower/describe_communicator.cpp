// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/describe_communicator.hpp"

#include <algorithm>

#include "sim/lower/rank_order.hpp"

namespace gradway {
namespace {

// Rate NCCL assigns to one NVLink, GB/s a direction. Source: NCCL 2.28.9, src/graph/topo.h.
double nccl_nvlink_rate(int compute_capability) {
  if (compute_capability >= 100) return 40.1;
  if (compute_capability >= 90) return 20.6;
  return 20.0;
}

/// What NCCL takes a way over PCIe for: the nominal rate of 16 lanes, which what was measured lies a little
/// above.
/// @source NCCL 2.28.9, src/graph/topo.cc: width times lane, 12 GB/s for Gen3 x16 and doubled with each
/// generation
BytesPerSecond nccl_pcie_rate(BytesPerSecond measured) {
  constexpr double closest = 1.2;
  for (const auto nominal : {12_GBps, 24_GBps, 48_GBps, 96_GBps})
    if (measured >= nominal && measured < nominal * closest) return nominal;
  return measured;
}

}  // namespace

Communicator describe_communicator(const Platform& platform, const Routes& routes,
                                   const std::vector<std::vector<Hop>>& rings, int ranks) {
  Communicator communicator;
  communicator.ranks = ranks;
  const auto& gpu = platform.gpu_models.front();
  communicator.nodes = node_count(platform, communicator.ranks);
  communicator.compute_capability = gpu.compute_capability;
  communicator.amd_cpu = platform.amd_cpu;
  communicator.nvlink = true;
  communicator.node_bandwidth = BytesPerSecond::infinite();
  communicator.transport = Transport::p2p;
  const auto orders = ring_orders(platform, communicator.ranks);
  for (std::size_t r = 0; r < rings.size(); ++r) {
    auto leaving = BytesPerSecond::infinite();
    for (std::size_t i = 0; i < rings[r].size(); ++i) {
      const auto& hop = rings[r][i];
      const auto a = platform.gpus[orders[r][i]];
      const auto b = platform.gpus[orders[r][(i + 1) % orders[r].size()]];
      if (platform.device(a).node != platform.device(b).node) {
        leaving = std::min(leaving, hop.bandwidth);
        continue;
      }
      const auto links = routes.nvlinks(a, b);
      const BytesPerSecond nominal{links * nccl_nvlink_rate(gpu.compute_capability) * 1e9};
      communicator.nvlink = communicator.nvlink && hop.nvlink;
      communicator.node_bandwidth =
          std::min(communicator.node_bandwidth, hop.nvlink ? nominal : nccl_pcie_rate(hop.bandwidth));
      communicator.transport = std::max(communicator.transport, hop.transport);
    }
    if (communicator.nodes > 1) communicator.net_bandwidth += leaving;
  }
  return communicator;
}

}  // namespace gradway
