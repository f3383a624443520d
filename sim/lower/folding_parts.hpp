// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/lower/folding.hpp"

namespace gradway {

/// What folding partitions. A member can stand for `copies` that do the same as it does, on other domains.
struct FoldingParts {
  /// A resource, or an actor of a group, and how often it is named.
  struct Use {
    std::uint32_t member;
    std::uint32_t times;
  };
  using Uses = std::vector<Use>;

  struct Actor {
    std::size_t program = 0;
    double slowdown = 1;
    std::optional<std::size_t> varies{};  ///< its own number, if its work is random
    std::vector<Uses> uses{};             ///< of resources, by kind of flow
    std::vector<std::uint32_t> groups{};  ///< by slot
    std::vector<std::uint32_t> channels{};
    std::uint32_t copies = 1;
  };
  struct Flow {
    std::size_t group = 0;
    std::size_t figures = 0;
    Uses uses{};
  };
  struct Group {
    std::size_t kind = 0;
    std::vector<std::pair<std::size_t, Use>> members{};  ///< slots and actors
    std::uint32_t copies = 1;
  };
  struct Shared {
    ResourceKind kind = ResourceKind::link;
    double rate = 0;
    std::uint32_t copies = 1;
  };

  std::vector<Actor> actors;
  std::vector<Group> groups;
  std::vector<Flow> flows;  ///< in the order of their groups
  std::vector<Shared> resources;
};

/// Every actor, group, flow and resource, each for itself.
FoldingParts every_part(const Workload& workload, const ActorUses& uses, const std::vector<GroupUse>& groups,
                        const Platform& platform);

/// The parts of some of several interchangeable NVLink domains, which stand for those of others.
///
/// Domains are alike if their actors run the same programs equally fast and hold groups that are alike at the
/// same slots, of which the flows use the domains alike; groups are alike if they have the same kind of
/// communicator and calls, and domains that are alike in the same order. This is an equitable partition of
/// all actors, groups, flows and resources, so that the coarsest one is the coarsest of these parts with the
/// numbers of their copies.
struct PartsOfDomains {
  FoldingParts parts;
  std::vector<std::uint32_t> kind_of_domain;
  std::vector<std::uint32_t> first_of_kind;  ///< the first domain
  std::vector<std::uint32_t> part_of_actor;
  std::vector<std::uint32_t> part_of_group;

  /// @pre no channels, and resources of domains only
  PartsOfDomains(const Workload& workload, const ActorUses& uses, const std::vector<GroupUse>& groups,
                 const Platform& platform, const IdenticalDomains& alike);
};

}  // namespace gradway
