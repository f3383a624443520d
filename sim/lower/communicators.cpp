// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/communicators.hpp"

#include <utility>

#include "sim/base/contract.hpp"
#include "sim/graph/op_graph.hpp"

namespace gradway {

CommunicatorOfAll::CommunicatorOfAll(const Scenario& scenario)
    : routes_{scenario.platform},
      communicator_{routes_, nccl_settings(scenario.job.nccl), scenario.calibration,
                    first_gpus(scenario.job.gpus)} {}

Communicators::Communicators(const Workload& workload, const Scenario& scenario)
    : routes_{std::make_unique<Routes>(scenario.platform)} {
  const auto numbers = gpu_numbers(scenario.platform);
  const auto settings = nccl_settings(scenario.job.nccl);
  for (const auto& group : workload.groups) {
    GpuNumbers gpus;
    for (const auto member : group.members) {
      gpus.push_back(numbers[workload.actors[member.index()].at.index()]);
      expects(gpus.back() != Op::absent, "members of a group have a GPU");
    }
    all_.push_back(std::make_unique<Communicator>(*routes_, settings, scenario.calibration, std::move(gpus)));
  }
}

std::vector<const Communicator*> Communicators::of(const Actor& actor) const {
  std::vector<const Communicator*> found;
  for (const auto group : actor.groups) found.push_back(&of(group));
  return found;
}

std::vector<std::uint32_t> gpu_numbers(const Platform& platform) {
  std::vector<std::uint32_t> numbers(platform.devices.size(), Op::absent);
  for (std::size_t i = 0; i < platform.gpus.size(); ++i)
    numbers[platform.gpus[i].index()] = static_cast<std::uint32_t>(i);
  return numbers;
}

}  // namespace gradway
