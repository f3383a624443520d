// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/ids.hpp"
#include "sim/graph/workload.hpp"
#include "sim/platform/platform.hpp"

namespace gradway {

/// Which actors, groups, channels and resources stand for others. Those of one class do the same at the same
/// time: one of them is simulated for all.
struct Folding {
  std::size_t ranks = 0;                          ///< of the actors, the first
  std::vector<ActorId> actor_representative;      ///< by actor: the lowest of its class
  std::vector<GroupId> group_representative;      ///< by group, the same
  std::vector<ChannelId> channel_representative;  ///< by channel, the same
  std::vector<ResourceId> resource_representative;

  bool stands_for_itself(ActorId actor) const { return actor_representative[actor.index()] == actor; }
  bool stands_for_itself(ResourceId resource) const {
    return resource_representative[resource.index()] == resource;
  }
  /// The resources of a path that stand for themselves, as often as they are in it.
  std::vector<ResourceId> fold(const std::vector<ResourceId>& path) const;
  /// Ranks that are simulated.
  std::size_t simulated_ranks() const;
};

/// Everybody stands for themselves.
Folding no_folding(const Workload& workload, const Platform& platform);

/// What the flows of an actor use: by kind of flow (kernels with copies in, copies out), resources with their
/// repeats.
using ActorUse = std::vector<std::vector<ResourceId>>;

/// What the collectives of a group use.
struct GroupUse {
  std::size_t kind = 0;                               ///< equal only where all figures of the flows are
  std::vector<const std::vector<ResourceId>*> paths;  ///< of the flows, each once
};

/// Finds the coarsest classes of which the following holds, by refining until it does (an equitable
/// partition):
/// * actors of a class run the same program equally fast; their flows name resources of each class equally
///   often; slot by slot their groups and channels are of the same class;
/// * groups of a class have as many members of each class of actors at the same slots, the same figures, and
///   flows that name resources of each class equally often; channels of a class join the same classes at
///   the same slots;
/// * resources of a class have the same capacity and are named equally often by the actors of each class and
///   by the flows of the groups of each class.
/// Then all of a class are always in the same state. By induction over events: if that holds up to a date,
/// the flows under way are the same for all actors and groups of a class; max-min rates are unique, and a
/// resource of a class is as loaded as any other of it, so all flows of a class go equally fast and end
/// together; the k-th call of an actor meets the k-th calls of members of the same classes, so meetings of a
/// class begin together, too. So it is enough to simulate an actor, a meeting and a hand-over a class, with
/// paths repeated as often as the class uses the resource. The representative of a class of actors need not
/// be a member of the representative of its groups' class.
/// @param actors by actor
/// @param groups by group
/// @param others paths of a neighbour's traffic, each of which stands for itself
Folding find_folding(const Workload& workload, const std::vector<ActorUse>& actors,
                     const std::vector<GroupUse>& groups,
                     const std::vector<const std::vector<ResourceId>*>& others, const Platform& platform);

}  // namespace gradway
