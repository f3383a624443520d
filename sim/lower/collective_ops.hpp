// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/graph/op_graph.hpp"
#include "sim/graph/workload_graph.hpp"
#include "sim/lower/collectives.hpp"
#include "sim/lower/folding.hpp"

namespace gradway {

/// The collectives of a step, each kind and size lowered once, whatever the number of calls and steps.
class CollectiveOps {
 public:
  CollectiveOps(const WorkloadGraph& workload, const CollectiveLowering& collectives);

  /// Of the largest collective's channels; empty if NCCL has nothing to run.
  std::optional<ChannelLimit> limit() const;

  /// What all of them rest on, each thing once.
  const std::vector<CollectiveEvidence>& rests_on() const { return rests_on_; }

  /// The paths of all flows, for finding what can be folded.
  std::vector<const std::vector<ResourceId>*> paths() const;

  /// Enters the folded paths in the graph. @param side of the flows, or Op::absent
  void enter(OpGraph& graph, const Folding& folding, std::uint32_t side);

  /// The ops of one call, side by side; none for one rank. @pre entered, and the task is one of the
  /// workload's
  const std::vector<Op>& of(const Task& task) const;

 private:
  struct Entry {
    LoweredCollective lowered;
    std::vector<Op> ops;
  };
  std::map<std::pair<CollectiveKind, Bytes>, Entry> entries_;
  std::vector<CollectiveEvidence> rests_on_;
};

}  // namespace gradway
