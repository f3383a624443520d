// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/graph/workload.hpp"
#include "sim/nccl/shared_path.hpp"
#include "sim/platform/platform.hpp"

namespace gradway {

/// The resources that represent others.
class ResourceRepresentatives {
 public:
  ResourceRepresentatives() = default;
  /// @param representatives by resource
  explicit ResourceRepresentatives(std::vector<ResourceId> representatives);
  /// @param representatives of the resources of a domain of each kind, kind by kind
  ResourceRepresentatives(std::vector<ResourceId> representatives, const IdenticalDomains& alike,
                          std::vector<std::uint32_t> kind_of_domain);

  ResourceId of(ResourceId id) const { return representatives_[place_of(id)]; }
  /// Number of resources that one represents, itself included.
  std::size_t represented_by(ResourceId representative) const { return counts_[place_of(representative)]; }
  /// Whether a domain may have resources that represent themselves.
  bool may_be_on(std::size_t domain) const { return !alike_ || has_representatives_[domain]; }

 private:
  std::size_t place_of(ResourceId id) const {
    if (!alike_) return id.index();
    return kind_of_domain_[alike_->domain_of(id)] * alike_->resources() + alike_->number_in_domain(id);
  }

  std::vector<ResourceId> representatives_;
  std::vector<std::uint32_t> counts_;  ///< at the place of a representative
  std::optional<IdenticalDomains> alike_;
  std::vector<std::uint32_t> kind_of_domain_;
  std::vector<bool> has_representatives_;  ///< by domain
};

/// Which actors, groups, channels and resources represent others. All members of a class do the same at the
/// same time, so that only its representative is simulated.
struct Folding {
  std::size_t ranks = 0;                          ///< the first actors
  std::vector<ActorId> actor_representative;      ///< by actor: the first of its class
  std::vector<GroupId> group_representative;      ///< by group, likewise
  std::vector<ChannelId> channel_representative;  ///< by channel, likewise
  ResourceRepresentatives resources{};
  /// By group and path of its flows: the class. Flows of a class are equal. Empty without folding: each path
  /// is alone in its class.
  std::vector<std::vector<std::uint32_t>> flow_class{};

  std::uint32_t class_of_flow(std::size_t group, std::size_t path) const {
    return flow_class.empty() ? static_cast<std::uint32_t>(path) : flow_class[group][path];
  }
  bool is_representative(ActorId actor) const { return actor_representative[actor.index()] == actor; }
  bool is_representative(ResourceId resource) const { return resources.of(resource) == resource; }
  /// The representative resources of a path, each as often as the path names it.
  std::vector<ResourceId> fold(const SharedPath& path) const;
  std::vector<ResourceId> fold(const std::vector<ResourceId>& path) const;
  /// Number of ranks that are simulated.
  std::size_t simulated_ranks() const;
};

/// Each actor, group, channel and resource represents itself alone.
Folding no_folding(const Workload& workload, const Platform& platform);

/// The resources that the flows of an actor use, with repeats, by kind of flow (kernels and copies in, copies
/// out, ...).
using ActorUse = std::vector<std::vector<ResourceId>>;
/// That of each actor, by its number. On interchangeable domains it is the same for the same GPUs.
using ActorUses = std::function<ActorUse(std::size_t)>;

/// The resources that the collectives of a group use.
struct GroupUse {
  std::size_t kind = 0;           ///< equal only if all amounts, caps and latencies of the flows are equal
  std::size_t shared = 0;         ///< equal only if, besides, their paths are the same but for the domains
  std::vector<SharedPath> paths;  ///< of the flows, each once
  /// By path: a number that is equal only if the flows on both paths have equal amounts and caps in each
  /// call.
  std::vector<std::size_t> figures;
};

/// Finds the coarsest classes with the following properties by refinement (an equitable partition):
/// * actors of a class run the same program equally fast; their flows name resources of each class equally
///   often; slot by slot their groups and channels are of the same class;
/// * groups of a class have as many members of each class of actors at the same slots, the same figures, and
///   as many flows of each class; flows of a class belong to groups of a class, have the same figures, and
///   name resources of each class equally often; channels of a class join the same classes at the same slots;
/// * resources of a class have the same capacity and are named equally often by the actors of each class and
///   by the flows of each class.
/// Then all members of a class are always in the same state. Proof by induction over events: if it holds up
/// to a date, the active flows are the same for all actors and groups of a class. Max-min rates are unique,
/// and all resources of a class carry the same load, so all flows of a class have the same rate and end
/// together. The k-th call of an actor joins the k-th calls of members of the same classes, so the rendezvous
/// of a class begin together, too. It is therefore enough to simulate one actor, one rendezvous, one flow of
/// a rendezvous and one put and take of each class, with paths repeated as often as the class uses the
/// resource. So the rings of NCCL's channels, which begin at other GPUs each, are one flow. The
/// representative of a class of actors need not be a member of the representative of its groups' class.
/// @param groups by group
/// @param traffic paths of neighbours' traffic, each of which represents itself
/// @param alike null, or the platform's interchangeable domains: some of them are refined for all, with the
///        same result
/// @pre with `alike` no traffic, no channels, and no resources but those of domains
Folding find_folding(const Workload& workload, const ActorUses& actors, const std::vector<GroupUse>& groups,
                     const std::vector<const std::vector<ResourceId>*>& traffic, const Platform& platform,
                     const IdenticalDomains* alike = nullptr);

}  // namespace gradway
