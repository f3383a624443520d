// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/communicators.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/base/contract.hpp"
#include "sim/graph/op_graph.hpp"

namespace gradway {
namespace {

/// Numbers of NVLink domains, rising, each once.
std::vector<std::uint32_t> domains_of(const GpuNumbers& gpus, const Platform& platform) {
  std::vector<std::uint32_t> domains;
  for (const auto gpu : gpus)
    domains.push_back(static_cast<std::uint32_t>(platform.nvlink_domain(platform.gpus[gpu])));
  std::ranges::sort(domains);
  const auto duplicates = std::ranges::unique(domains);
  domains.erase(duplicates.begin(), duplicates.end());
  domains.shrink_to_fit();
  return domains;
}

/// The GPUs as if their domains were the first ones of the platform.
GpuNumbers on_first_domains(const GpuNumbers& gpus, const std::vector<std::uint32_t>& domains,
                            std::size_t gpus_per_domain) {
  GpuNumbers moved;
  for (const auto gpu : gpus) {
    const auto place = std::ranges::lower_bound(domains, gpu / gpus_per_domain) - domains.begin();
    moved.push_back(static_cast<std::size_t>(place) * gpus_per_domain + gpu % gpus_per_domain);
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
    if (const auto& alike = routes_->identical_domains(); alike.hold()) {
      entry.domains = domains_of(gpus, platform);
      const auto gpus_per_domain = platform.gpus.size() / alike.count();
      entry.kind = known.try_emplace(on_first_domains(gpus, entry.domains, gpus_per_domain), kinds_.size())
                       .first->second;
      if (entry.kind < kinds_.size()) continue;
    }
    kinds_.push_back(
        {std::make_unique<Communicator>(*routes_, settings, scenario.calibration, std::move(gpus)),
         GroupId{groups_.size() - 1}});
  }
}

std::vector<ResourceId> Communicators::moved(const std::vector<ResourceId>& path, GroupId group) const {
  const auto& entry = groups_[group.index()];
  return routes_->identical_domains().on_domains(path, groups_[kinds_[entry.kind].first.index()].domains,
                                                 entry.domains);
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
