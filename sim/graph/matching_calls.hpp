// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/graph/workload.hpp"

namespace gradway {

/// Finds the task with which each member of a group takes part in a call. The ops of a call name the task of
/// the member that issued it first. Programs of members can differ: the two ends of a transfer between
/// pipeline stages run different ones.
class MatchingCalls {
 public:
  explicit MatchingCalls(const Workload& workload);

  /// @param member program of a member, which has the group in `slot`
  /// @param origin origin of an op of the call
  /// @return index of the task in the member's program
  std::int32_t task_of(ProgramId member, Slot slot, const Origin& origin) const;

 private:
  /// The calls of a program.
  struct Calls {
    std::vector<std::size_t> position;                ///< by task: its number among the calls on its slot
    std::map<Slot, std::vector<std::int32_t>> tasks;  ///< by slot: tasks of the calls in order of issue
  };
  std::vector<Calls> of_program_;
};

}  // namespace gradway
