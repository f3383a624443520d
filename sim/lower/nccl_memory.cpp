// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/nccl_memory.hpp"

#include <set>

namespace gradway {
namespace {

/// What a program calls, each size once.
std::set<Call> different_calls(const Program& program) {
  std::set<Call> calls;
  for (const auto& task : program.tasks)
    if (const auto* call = std::get_if<Call>(&task.work)) calls.insert(*call);
  return calls;
}

}  // namespace

std::vector<Bytes> nccl_memory(const Workload& workload, const Communicators& communicators,
                               const Platform& platform) {
  std::vector<Bytes> sums(workload.programs.size());
  if (platform.collectives != CollectiveRules::nccl) return sums;
  std::vector<bool> known(sums.size(), false);
  for (const auto& actor : workload.actors) {
    const auto program = actor.program.index();
    if (known[program]) continue;
    known[program] = true;
    const auto of_slots = communicators.of(actor);
    std::vector<Connections> connections(of_slots.size());
    for (const auto& call : different_calls(workload.programs[program]))
      if (const auto slot = call.group.index; of_slots[slot]->facts().ranks > 1)
        connections[slot].add(of_slots[slot]->connections_for(call.kind, call.bytes));
    Connections all;
    for (std::size_t slot = 0; slot < of_slots.size(); ++slot) {
      sums[program] += of_slots[slot]->memory_of(connections[slot]);
      all.add(connections[slot]);
    }
    sums[program] += code_of(all);
  }
  return sums;
}

}  // namespace gradway
