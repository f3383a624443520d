// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/node_facts.hpp"

#include "sim/base/problem.hpp"
#include "sim/lower/communicators.hpp"

namespace gradway::cli {
namespace {

/// The variables that leave NCCL just one transport inside a node.
std::map<std::string, std::string> variables(Transport transport) {
  std::map<std::string, std::string> nccl;
  if (transport != Transport::p2p) nccl["NCCL_P2P_DISABLE"] = "1";
  if (transport == Transport::net) nccl["NCCL_SHM_DISABLE"] = "1";
  return nccl;
}

std::optional<int> channels(const Scenario& scenario, Transport transport) {
  try {
    const CommunicatorOfAll all{scenario};
    if (all->facts().transport == transport) return all->channels();
  } catch (const ConfigError&) {  // no such transport there
  }
  return std::nullopt;
}

}  // namespace

NodeFacts node_facts(const Platform& platform, const Samples& samples) {
  NodeFacts facts;
  if (platform.gpus.empty()) return facts;
  const auto& gpu = platform.gpu_models.front();
  facts.multiprocessors = gpu.multiprocessors;
  facts.peak = gpu.peak;
  if (!gpu.ideal) facts.memory_bandwidth = gpu.memory_bandwidth;
  Scenario scenario;
  scenario.platform = platform;
  if (platform.collectives == CollectiveRules::ideal) return facts;
  for (const auto& row : samples.contention) {
    if (static_cast<std::size_t>(row.ranks) > platform.gpus.size()) continue;
    scenario.job.gpus = row.ranks;
    scenario.job.nccl = variables(row.transport);
    if (const auto count = channels(scenario, row.transport))
      facts.channels[{row.transport, row.ranks}] = *count;
  }
  return facts;
}

}  // namespace gradway::cli
