// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/nccl_channels.hpp"

namespace gradway {

std::vector<int> nccl_channels(const Workload& workload, const Communicators& communicators,
                               const Platform& platform) {
  std::vector<int> sums(workload.programs.size(), 0);
  if (platform.collectives != CollectiveRules::nccl) return sums;
  std::vector<bool> known(sums.size(), false);
  for (const auto& actor : workload.actors) {
    if (known[actor.program.index()]) continue;
    known[actor.program.index()] = true;
    for (const auto* communicator : communicators.of(actor))
      if (communicator->facts().ranks > 1) sums[actor.program.index()] += communicator->channels();
  }
  return sums;
}

}  // namespace gradway
