// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/graph/workload.hpp"

namespace gradway {

/// Finds the task with which each member of a group takes part in a call. The ops of a call name the task of
/// the member that issued it first, whose program can differ from the programs of the other members: the two
/// ends of a transfer between pipeline stages run different programs.
class MatchingCalls {
 public:
  explicit MatchingCalls(const Workload& workload);

  /// @param member program of the member whose task is wanted, which has the group in `slot`
  /// @param origin of an op of the call
  /// @return index of the task in the member's program
  std::int32_t task_of(ProgramId member, Slot slot, const Origin& origin) const;

 private:
  /// The calls of a program.
  struct Calls {
    std::vector<std::size_t> position;                ///< by task: which call on its slot it is
    std::map<Slot, std::vector<std::int32_t>> tasks;  ///< by slot: the calls in the order of issue
  };
  std::vector<Calls> of_program_;
};

}  // namespace gradway
