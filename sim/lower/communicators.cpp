// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/communicators.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/base/contract.hpp"
#include "sim/graph/op_graph.hpp"

namespace gradway {
namespace {

/// GPUs as if their domains were the first ones of the platform, in the order of the ranks.
struct OnFirstDomains {
  GpuNumbers gpus;
  std::vector<std::uint32_t> domains;  ///< their own
};

OnFirstDomains on_first_domains(const GpuNumbers& gpus, std::size_t gpus_per_domain,
                                std::vector<std::uint32_t>& place_of_domain) {
  OnFirstDomains moved;
  for (const auto gpu : gpus) {
    auto& place = place_of_domain[gpu / gpus_per_domain];
    if (place == Op::absent) {
      place = static_cast<std::uint32_t>(moved.domains.size());
      moved.domains.push_back(static_cast<std::uint32_t>(gpu / gpus_per_domain));
    }
    moved.gpus.push_back(place * gpus_per_domain + gpu % gpus_per_domain);
  }
  for (const auto domain : moved.domains) place_of_domain[domain] = Op::absent;
  return moved;
}

}  // namespace

Communicators::Communicators(const Workload& workload, const Scenario& scenario)
    : routes_{std::make_unique<Routes>(scenario.platform)} {
  const auto& platform = scenario.platform;
  const auto numbering = gpu_numbers(platform);
  const auto settings = nccl_settings(scenario.job.nccl);
  std::map<GpuNumbers, std::size_t> known;
  const auto& alike = routes_->identical_domains();
  std::vector<std::uint32_t> place_of_domain(alike.hold() ? alike.count() : 0, Op::absent);
  groups_.reserve(workload.groups.size());
  for (const auto& group : workload.groups) {
    GpuNumbers gpus;
    for (const auto member : group.members) {
      gpus.push_back(numbering[workload.actors[member.index()].at.index()]);
      expects(gpus.back() != Op::absent, "each member of a group has a GPU");
    }
    auto& entry = groups_.emplace_back(kinds_.size());
    if (alike.hold()) {
      auto moved = on_first_domains(gpus, platform.gpus.size() / alike.count(), place_of_domain);
      entry.domains = std::make_shared<const std::vector<std::uint32_t>>(std::move(moved.domains));
      entry.kind = known.try_emplace(std::move(moved.gpus), kinds_.size()).first->second;
      if (entry.kind < kinds_.size()) continue;
    }
    kinds_.push_back(
        std::make_unique<Communicator>(*routes_, settings, scenario.calibration, std::move(gpus)));
  }
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
