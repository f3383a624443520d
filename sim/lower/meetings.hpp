// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "sim/graph/op_graph.hpp"
#include "sim/graph/workload.hpp"
#include "sim/lower/communicators.hpp"
#include "sim/lower/folding.hpp"

namespace gradway {

/// What a program calls on each of its communicators, whatever how often.
using CallsBySlot = std::map<Slot, std::set<std::pair<CollectiveKind, Bytes>>>;
CallsBySlot calls_of(const Program& program);

/// The ops of one call, side by side, by group that stands for itself and by call; none for one rank.
using OpsOfCalls = std::map<GroupId, std::map<std::pair<CollectiveKind, Bytes>, std::vector<Op>>>;

/// The collectives of a step by group, each kind and size lowered once, whatever the number of calls, steps
/// and groups that differ in nothing but their nodes.
class Meetings {
 public:
  Meetings(const Workload& workload, const Communicators& communicators);

  /// Of the largest collective's channels; empty if NCCL has nothing to run.
  std::optional<ChannelLimit> limit() const;

  /// What all of them rest on, each thing once.
  const std::vector<CollectiveProvenance>& provenance() const { return provenance_; }

  /// By program: the calls that these are for.
  const std::vector<CallsBySlot>& calls() const { return calls_; }

  /// For finding what can be folded.
  std::vector<GroupUse> uses() const;

  /// Enters the folded paths in the graph. @param sides of the flows by group, or Op::absent
  OpsOfCalls enter(OpGraph& graph, const Folding& folding, const std::vector<std::uint32_t>& sides) const;

 private:
  struct Entry {
    LoweredCollective lowered;
    std::vector<std::size_t> path;  ///< by flow: its place among the paths of the group
  };
  /// What groups of one kind of communicator, whose members make the same calls, have in common.
  struct Alike {
    std::map<std::pair<CollectiveKind, Bytes>, Entry> entries{};
    std::vector<const std::vector<ResourceId>*> paths{};  ///< of all flows of the first group, each once
  };
  struct Meeting {
    std::size_t alike;
    std::vector<std::vector<ResourceId>>
        moved{};  ///< the group's own paths; empty: as those of the first one
  };
  Alike lowered(const Communicator& communicator, const std::set<std::pair<CollectiveKind, Bytes>>& calls);
  const std::vector<ResourceId>& path(const Meeting& group, std::size_t number) const {
    return group.moved.empty() ? *alike_[group.alike].paths[number] : group.moved[number];
  }

  std::vector<CallsBySlot> calls_;
  std::vector<Alike> alike_;
  std::vector<Meeting> groups_;
  std::vector<CollectiveProvenance> provenance_;
};

}  // namespace gradway
