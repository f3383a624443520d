// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/communicators.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/base/contract.hpp"
#include "sim/graph/op_graph.hpp"

namespace gradway {
namespace {

/// Node numbers, rising, each once.
std::vector<std::uint32_t> nodes_of(const GpuNumbers& gpus, const Platform& platform) {
  std::vector<std::uint32_t> nodes;
  for (const auto gpu : gpus)
    nodes.push_back(static_cast<std::uint32_t>(platform.device(platform.gpus[gpu]).node));
  std::ranges::sort(nodes);
  const auto duplicates = std::ranges::unique(nodes);
  nodes.erase(duplicates.begin(), duplicates.end());
  nodes.shrink_to_fit();
  return nodes;
}

/// The GPUs as if their nodes were the first ones of the platform.
GpuNumbers on_first_nodes(const GpuNumbers& gpus, const std::vector<std::uint32_t>& nodes,
                          const Platform& platform) {
  const auto gpus_per_node = platform.gpus.size() / static_cast<std::size_t>(platform.nodes);
  GpuNumbers moved;
  for (const auto gpu : gpus) {
    const auto place = std::ranges::lower_bound(nodes, gpu / gpus_per_node) - nodes.begin();
    moved.push_back(static_cast<std::size_t>(place) * gpus_per_node + gpu % gpus_per_node);
  }
  return moved;
}

}  // namespace

Communicators::Communicators(const Workload& workload, const Scenario& scenario)
    : routes_{std::make_unique<Routes>(scenario.platform)} {
  const auto& platform = scenario.platform;
  const auto numbering = gpu_numbers(platform);
  const auto settings = nccl_settings(scenario.job.nccl);
  std::map<GpuNumbers, std::size_t> known;
  groups_.reserve(workload.groups.size());
  for (const auto& group : workload.groups) {
    GpuNumbers gpus;
    for (const auto member : group.members) {
      gpus.push_back(numbering[workload.actors[member.index()].at.index()]);
      expects(gpus.back() != Op::absent, "each member of a group has a GPU");
    }
    auto& entry = groups_.emplace_back(kinds_.size());
    if (routes_->identical_nodes().hold()) {
      entry.nodes = nodes_of(gpus, platform);
      entry.kind =
          known.try_emplace(on_first_nodes(gpus, entry.nodes, platform), kinds_.size()).first->second;
      if (entry.kind < kinds_.size()) continue;
    }
    kinds_.push_back(
        {std::make_unique<Communicator>(*routes_, settings, scenario.calibration, std::move(gpus)),
         GroupId{groups_.size() - 1}});
  }
}

std::vector<ResourceId> Communicators::moved(const std::vector<ResourceId>& path, GroupId group) const {
  const auto& entry = groups_[group.index()];
  return routes_->identical_nodes().on_nodes(path, groups_[kinds_[entry.kind].first.index()].nodes,
                                             entry.nodes);
}

std::vector<const Communicator*> Communicators::of(const Actor& actor) const {
  std::vector<const Communicator*> communicators;
  for (const auto group : actor.groups) communicators.push_back(&of(group));
  return communicators;
}

std::vector<std::uint32_t> gpu_numbers(const Platform& platform) {
  std::vector<std::uint32_t> numbering(platform.devices.size(), Op::absent);
  for (std::size_t i = 0; i < platform.gpus.size(); ++i)
    numbering[platform.gpus[i].index()] = static_cast<std::uint32_t>(i);
  return numbering;
}

}  // namespace gradway
