// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/graph/matching_calls.hpp"
#include "sim/graph/origin.hpp"
#include "sim/lower/folding.hpp"

namespace gradway {

/// The ops of a run that belong to an actor: its own, or those of its representative, and those of its
/// groups.
class View {
 public:
  View(const Workload& workload, const Folding& folding, ActorId actor);
  /// View of the first actor that runs a program.
  View(const Workload& workload, const Folding& folding, ProgramId program);

  const Program& program() const { return program_; }
  bool sees(const Origin& origin) const;
  /// The task of `program()` that an op belongs to. @pre it sees the op @param calls of the same workload
  std::int32_t task_of(const Origin& origin, const MatchingCalls& calls) const;
  /// Purpose of a collective that it sees; collectives without a group are those of its first group.
  Purpose purpose_of(const Origin& origin) const;

 private:
  const Workload& workload_;
  const Program& program_;
  ProgramId program_id_;
  std::int32_t actor_;
  std::vector<std::int32_t> groups_;  ///< by slot
};

}  // namespace gradway
