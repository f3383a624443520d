// SPDX-License-Identifier: Apache-2.0
#include "sim/graph/matching_calls.hpp"

namespace gradway {

MatchingCalls::MatchingCalls(const Workload& workload) {
  for (const auto& program : workload.programs) {
    auto& calls = of_program_.emplace_back();
    calls.position.resize(program.tasks.size());
    for (std::size_t task = 0; task < program.tasks.size(); ++task) {
      const auto* call = std::get_if<Call>(&program.tasks[task].work);
      if (call == nullptr) continue;
      auto& on_slot = calls.tasks[call->group];
      calls.position[task] = on_slot.size();
      on_slot.push_back(static_cast<std::int32_t>(task));
    }
  }
}

std::int32_t MatchingCalls::task_of(ProgramId member, Slot slot, const Origin& origin) const {
  const auto position = of_program_[origin.program].position[static_cast<std::size_t>(origin.task)];
  return of_program_[member.index()].tasks.at(slot).at(position);
}

}  // namespace gradway
