// SPDX-License-Identifier: Apache-2.0
#include "readers/fit/node_facts.hpp"

#include "sim/base/problem.hpp"
#include "sim/nccl/communicator.hpp"

namespace gradway {
namespace {

/// Settings that leave NCCL only one transport inside a node.
NcclSettings force(Transport transport) {
  NcclSettings settings;
  settings.p2p_disable = transport != Transport::p2p;
  settings.shm_disable = transport == Transport::net;
  return settings;
}

std::optional<int> channels(const Routes& routes, int ranks, Transport transport) {
  const Calibration nothing;
  try {
    const Communicator communicator{routes, force(transport), nothing, first_gpus(ranks)};
    if (communicator.facts().transport == transport) return communicator.channels();
  } catch (const ConfigError&) {  // The platform has no such transport.
  }
  return std::nullopt;
}

}  // namespace

NodeFacts node_facts(const Platform& platform, const Samples& samples) {
  NodeFacts facts;
  if (platform.gpus.empty()) return facts;
  const auto& gpu = platform.gpu_models.front();
  facts.gpu = gpu.name;
  facts.multiprocessors = gpu.multiprocessors;
  facts.peak = gpu.peak;
  if (!gpu.ideal) facts.memory_bandwidth = gpu.memory_bandwidth;
  if (platform.collectives == CollectiveRules::ideal) return facts;
  const Routes routes{platform};
  for (const auto& row : samples.contention) {
    if (static_cast<std::size_t>(row.ranks) > platform.gpus.size()) continue;
    if (const auto count = channels(routes, row.ranks, row.transport))
      facts.channels[{row.transport, row.ranks}] = *count;
  }
  return facts;
}

}  // namespace gradway
