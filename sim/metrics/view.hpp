// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/graph/matching_calls.hpp"
#include "sim/graph/op_graph.hpp"
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
  /// The actor, or its representative.
  std::int32_t actor() const { return actor_; }
  /// The groups, or their representatives, by slot.
  const std::vector<std::int32_t>& groups() const { return groups_; }
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

/// By view: those of some ops that it sees, in the same order.
std::vector<std::vector<std::size_t>> seen_by(const std::vector<View>& views, const OpGraph& graph,
                                              const std::vector<std::size_t>& ops);

}  // namespace gradway
