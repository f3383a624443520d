// SPDX-License-Identifier: Apache-2.0
#include "sim/nccl/describe_communicator.hpp"

#include <algorithm>
#include <optional>

#include "sim/cost/rccl_model.hpp"
#include "sim/nccl/mesh_rings.hpp"
#include "sim/nccl/nvlink_rings.hpp"
#include "sim/nccl/rank_order.hpp"

namespace gradway {
namespace {

/// NCCL's rate of a path over PCIe: the nominal rate of 16 lanes, slightly below the measured one.
/// @source NCCL 2.28.9, src/graph/topo.cc: width times lane, 12 GB/s for Gen3 x16 and doubled with each
/// generation
BytesPerSecond nccl_pcie_rate(BytesPerSecond measured) {
  constexpr double closest = 1.2;
  for (const auto nominal : {12_GBps, 24_GBps, 48_GBps, 96_GBps})
    if (measured >= nominal && measured < nominal * closest) return nominal;
  return measured;
}

/// The first GPUs of AWS whose EFA keeps the order of 128 bytes, by compute capability. The plugin asks the
/// provider, and sets NCCL_PROTO=simple without that order or without GPUDirect. That a p4d's EFA has no
/// order is inferred: its all-reduces of 1 to 16 MiB take two to three times what LL128 would.
/// @source github.com/aws/aws-ofi-nccl at 2daf7d30, src/platform-aws.cpp and src/nccl_ofi_net.cpp
constexpr int ordered_efa_from = 90;

/// NCCL's rate between AMD sockets, whatever their link.
/// @source NCCL 2.28.9, src/graph/topo.h
constexpr BytesPerSecond nccl_amd_sockets = 16_GBps;

/// Total rate of the rings of one node: rings along direct NVLinks share none; else there is one ring.
class InsideNode {
 public:
  void add(std::size_t ring, BytesPerSecond nominal) {
    if (ring >= slowest_.size()) slowest_.resize(ring + 1, BytesPerSecond::infinite());
    slowest_[ring] = std::min(slowest_[ring], nominal);
  }

  BytesPerSecond together(int nodes) const {
    if (slowest_.empty()) return BytesPerSecond::infinite();  // one rank per node
    if (nodes > 1) return std::ranges::min(slowest_, {}, &BytesPerSecond::value);
    BytesPerSecond sum{};
    for (const auto rate : slowest_) sum += rate;
    return sum;
  }

 private:
  std::vector<BytesPerSecond> slowest_;  ///< hop of each ring
};

bool are_on_nvswitches(const Platform& platform, const Routes& routes, const GpuNumbers& gpus) {
  return std::ranges::all_of(
      gpus, [&](std::size_t gpu) { return routes.links_to_nvswitch(platform.gpus[gpu]).has_value(); });
}

/// NVLink SHARP needs an NVSwitch for all GPUs of a node and Hopper or later, and must not be disabled.
/// @return the nominal rate of a GPU into the switch; empty if there is no NVLS
std::optional<BytesPerSecond> nvls_rate(const Platform& platform, const Routes& routes,
                                        const NcclSettings& settings, const GpuNumbers& gpus) {
  constexpr int hopper = 90;
  const auto capability = platform.gpu_models.front().compute_capability;
  if (!settings.nvls || !platform.nvls || capability < hopper) return std::nullopt;
  auto least = BytesPerSecond::infinite();
  for (const auto gpu : gpus) {
    const auto links = routes.links_to_nvswitch(platform.gpus[gpu]);
    if (!links) return std::nullopt;
    least = std::min(least, links->up->count * nccl_nvlink_rate(capability));
  }
  return least;
}

/// RCCL's nominal rate of all rings of a node together. On a full mesh inside a node they use all links of a
/// GPU; those of several nodes have a link each, or share one. Never below the links' own rate: RCCL's figure
/// for gfx95 is that of gfx94, whose links are slower.
void describe_rccl(CommunicatorFacts& communicator, const Platform& platform, const Routes& routes,
                   const CollectiveWays& ways, const GpuNumbers& node) {
  communicator.rccl = true;
  communicator.nvls = communicator.prefers_nvls_tree = communicator.collnet = false;
  communicator.mesh_links = mesh_links(routes, node);
  if (communicator.mesh_links == 0) return;
  const auto link = routes.find(platform.gpus[node[0]], platform.gpus[node[1]], Routes::Over::nvlink);
  const BytesPerSecond built{platform.resources[link->links.front()->resource.index()].capacity};
  const auto ring_rate = std::max(
      built, routes.nvlinks(platform.gpus[node[0]], platform.gpus[node[1]]) * BytesPerSecond{rccl_xgmi_rate});
  const auto rings = static_cast<double>(ways.rings().size());
  const auto used = communicator.nodes == 1         ? communicator.mesh_links
                    : has_mesh_chains(routes, node) ? rings
                                                    : 1.0;
  communicator.node_bandwidth = ring_rate * used;
}

}  // namespace

CommunicatorFacts describe_communicator(const Platform& platform, const Routes& routes,
                                        const NcclSettings& settings, const CollectiveWays& ways, int ranks) {
  CommunicatorFacts communicator;
  const auto& gpus = ways.gpus();
  const auto nodes = gpus_by_domain(platform, gpus);
  communicator.ranks = ranks;
  const auto& gpu = platform.gpu_models.front();
  communicator.nodes = static_cast<int>(ways.domain_count());
  communicator.compute_capability = gpu.compute_capability;
  communicator.amd_cpu = platform.amd_cpu;
  communicator.nvlink = true;
  communicator.transport = Transport::p2p;
  communicator.only_host_memory = true;
  const auto& orders = ways.orders();
  const auto& rings = ways.rings();
  const bool is_mesh = has_direct_nvlinks(routes, nodes.front());
  InsideNode inside;
  for (std::size_t r = 0; r < rings.size(); ++r) {
    auto leaving = BytesPerSecond::infinite();
    for (std::size_t i = 0; i < rings[r].size(); ++i) {
      const auto& hop = rings[r][i];
      const auto a = platform.gpus[orders[r][i]];
      const auto b = platform.gpus[orders[r][(i + 1) % orders[r].size()]];
      if (platform.nvlink_domain(a) != platform.nvlink_domain(b)) {
        leaving = std::min(leaving, hop.bandwidth);
        continue;
      }
      // A ring of a mesh of NVLinks has one of each bond.
      const auto links = is_mesh && communicator.nodes == 1
                             ? 1
                             : ways.nvlinks(orders[r][i], orders[r][(i + 1) % orders[r].size()]);
      const auto nominal = links * nccl_nvlink_rate(gpu.compute_capability);
      communicator.nvlink = communicator.nvlink && hop.nvlink;
      auto rate = hop.nvlink ? nominal : nccl_pcie_rate(hop.bandwidth);
      if (platform.amd_cpu && !hop.nvlink && routes.path_type(a, b) == PathType::sys)
        rate = std::min(rate, nccl_amd_sockets);
      inside.add(r, rate);
      communicator.transport = std::max(communicator.transport, hop.transport);
      communicator.only_host_memory = communicator.only_host_memory && hop.transport == Transport::shm;
    }
    if (communicator.nodes > 1) communicator.net_bandwidth += leaving;
  }
  communicator.only_host_memory = communicator.only_host_memory && communicator.transport == Transport::shm;
  communicator.node_bandwidth = inside.together(communicator.nodes);
  if (platform.network && communicator.nodes > 1) {
    const auto& network = *platform.network;
    communicator.net_latency = network.message_latency;
    communicator.unordered_network =
        network.kind == NetworkKind::efa && (!network.gpudirect || gpu.compute_capability < ordered_efa_from);
  }
  communicator.nvswitch = are_on_nvswitches(platform, routes, gpus);
  communicator.nics = static_cast<int>(rings.size());
  communicator.collnet = settings.collnet && communicator.nodes > 1;
  communicator.multi_node_nvlink = !platform.nvlink_domains.empty() && communicator.nodes > 1;
  if (const auto rate = nvls_rate(platform, routes, settings, gpus)) {
    communicator.nvls = true;
    communicator.nvlink_bandwidth = *rate;
    const bool has_efa = platform.network && platform.network->kind == NetworkKind::efa;
    communicator.prefers_nvls_tree = has_efa && platform.network->gpudirect && communicator.nodes > 2;
  }
  if (gpu.is_amd()) describe_rccl(communicator, platform, routes, ways, nodes.front());
  return communicator;
}

}  // namespace gradway
