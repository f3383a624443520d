// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/graph/op_graph.hpp"
#include "sim/graph/workload.hpp"
#include "sim/lower/communicators.hpp"
#include "sim/lower/folding.hpp"

namespace gradway {

/// The collectives of a step by group, each kind and size lowered once, whatever the number of calls and
/// steps.
class Meetings {
 public:
  Meetings(const Workload& workload, const Communicators& communicators);

  /// Of the largest collective's channels; empty if NCCL has nothing to run.
  std::optional<ChannelLimit> limit() const;

  /// What all of them rest on, each thing once.
  const std::vector<CollectiveEvidence>& rests_on() const { return rests_on_; }

  /// For finding what can be folded.
  std::vector<GroupUse> uses() const;

  /// Enters the folded paths in the graph. @param sides of the flows by group, or Op::absent
  void enter(OpGraph& graph, const Folding& folding, const std::vector<std::uint32_t>& sides);

  /// The ops of one call, side by side; none for one rank. @pre entered; the group stands for itself
  const std::vector<Op>& of(GroupId group, const Call& call) const;

 private:
  struct Entry {
    LoweredCollective lowered;
    std::vector<std::size_t> path;  ///< by flow: its place among the paths of the group
    std::vector<Op> ops;
  };
  struct Meeting {
    std::map<std::pair<CollectiveKind, Bytes>, Entry> entries;
    std::vector<const std::vector<ResourceId>*> paths;  ///< of all flows, each once
  };
  std::vector<Meeting> groups_;
  std::vector<CollectiveEvidence> rests_on_;
};

}  // namespace gradway
