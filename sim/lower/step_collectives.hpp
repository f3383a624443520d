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

/// The different calls that a program makes on each of its communicators.
using CallsBySlot = std::map<Slot, std::set<std::pair<CollectiveKind, Bytes>>>;
CallsBySlot calls_of(const Program& program);

/// The parallel ops of each call, by representative group and call; empty for a group of one rank.
using CallOps = std::map<GroupId, std::map<std::pair<CollectiveKind, Bytes>, std::vector<Op>>>;

/// The collectives of a step. Each kind and size is lowered once, however many calls, steps, or groups that
/// differ in their nodes only, use it.
class StepCollectives {
 public:
  StepCollectives(const Workload& workload, const Communicators& communicators);

  /// What limits the channels of the largest collective; empty if NCCL has nothing to run.
  std::optional<ChannelLimit> channel_limit() const;

  /// Each provenance once.
  const std::vector<CollectiveProvenance>& provenance() const { return provenance_; }

  /// By program: the calls that were lowered.
  const std::vector<CallsBySlot>& calls() const { return calls_; }

  /// By group: its flows, for folding.
  std::vector<GroupUse> group_uses() const;

  /// Adds the folded paths to the graph. @param sides by group: side of its flows, or Op::absent
  CallOps add_to(OpGraph& graph, const Folding& folding, const std::vector<std::uint32_t>& sides) const;

 private:
  struct Entry {
    LoweredCollective lowered;
    std::vector<std::size_t> path;  ///< by flow: index into SharedCollectives::paths
  };
  /// The collectives of groups with the same kind of communicator, whose members make the same calls.
  struct SharedCollectives {
    std::map<std::pair<CollectiveKind, Bytes>, Entry> entries{};
    std::vector<SharedPath> paths{};  ///< of all flows of the first group, each once
  };
  struct GroupCollectives {
    std::size_t shared;             ///< index into shared_
    std::vector<SharedPath> paths;  ///< those of the first group, on its own domains
  };
  SharedCollectives lowered(const Communicator& communicator,
                            const std::set<std::pair<CollectiveKind, Bytes>>& calls);
  /// By path: its number in `GroupUse::figures`.
  static std::vector<std::size_t> figures_of_paths(const SharedCollectives& shared,
                                                   std::map<std::vector<double>, std::size_t>& known);
  /// By path of the first member: the path in the graph of all flows of its class, or Op::absent if an
  /// earlier path is of the same class.
  std::vector<std::uint32_t> add_paths(OpGraph& graph, const Folding& folding,
                                       const std::vector<std::size_t>& members,
                                       std::map<std::vector<ResourceId>, std::uint32_t>& known) const;
  std::vector<CallsBySlot> calls_;
  std::vector<SharedCollectives> shared_;
  std::vector<GroupCollectives> groups_;
  std::vector<CollectiveProvenance> provenance_;
};

}  // namespace gradway
