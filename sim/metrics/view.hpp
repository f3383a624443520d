// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/graph/matching_calls.hpp"
#include "sim/graph/origin.hpp"
#include "sim/lower/folding.hpp"

namespace gradway {

/// What an actor sees of a run: its own ops, or those of the actor that was simulated for it, and the ops of
/// its groups.
class View {
 public:
  View(const Workload& workload, const Folding& folding, ActorId actor);
  /// Of the first actor that runs a program.
  View(const Workload& workload, const Folding& folding, ProgramId program);

  const Program& program() const { return program_; }
  bool sees(const Origin& origin) const;
  /// Returns the task of `program()` that an op which it sees belongs to. @param calls of the same workload
  std::int32_t task_of(const Origin& origin, const MatchingCalls& calls) const;
  /// Of the group of a collective that it sees; its own collectives are those of its first group.
  Purpose purpose_of(const Origin& origin) const;

 private:
  const Workload& workload_;
  const Program& program_;
  ProgramId program_id_;
  std::int32_t actor_;
  std::vector<std::int32_t> groups_;  ///< by slot
};

}  // namespace gradway
