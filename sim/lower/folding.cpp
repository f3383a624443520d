// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/folding.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <ranges>
#include <tuple>
#include <utility>

#include "sim/lower/folding_parts.hpp"

namespace gradway {
namespace {

/// A partition of members into classes; at first all are in one class.
class Classes {
 public:
  explicit Classes(std::size_t members) : class_(members, 0), size_{members} {}

  std::size_t of(std::size_t member) const { return class_[member]; }
  /// Number of classes that have members.
  std::size_t count() const { return count_; }

  /// Splits classes by key. Members that are not named stay together.
  /// @param key maps a member to a number
  template <class Members, class Key>
  void split(const Members& members, const Key& key) {
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> made;
    for (const auto member : members) {
      auto& member_class = class_[member];
      const auto [place, is_new] =
          made.try_emplace({member_class, key(member)}, static_cast<std::uint32_t>(size_.size()));
      if (is_new) {
        size_.push_back(0);
        ++count_;
      }
      if (--size_[member_class] == 0) --count_;
      member_class = place->second;
      ++size_[member_class];
    }
  }

  /// One more than the greatest number of a class. Some classes are empty.
  std::size_t numbers() const { return size_.size(); }

 private:
  std::vector<std::uint32_t> class_;  ///< by member
  std::vector<std::size_t> size_;     ///< by class
  std::size_t count_ = 1;
};

/// Numbers values in order of appearance.
template <class Thing>
class Numbering {
 public:
  std::uint64_t of(const Thing& thing) { return known_.try_emplace(thing, known_.size()).first->second; }

 private:
  std::map<Thing, std::uint64_t> known_;
};

/// Refines the classes until they are stable. The cost of a round is linear in the length of all paths.
class Refinement {
 public:
  /// The members are parts, and the channels of the workload.
  Refinement(const FoldingParts& parts, const std::vector<Channel>& channels)
      : parts_{parts},
        channel_ends_{channels},
        actors_{parts.actors.size()},
        groups_{parts.groups.size()},
        channels_{channels.size()},
        flows_{parts.flows.size()},
        resources_{parts.resources.size()},
        uses_(parts.resources.size(), 0) {
    split_all<std::pair<ResourceKind, double>>(resources_, parts.resources.size(), [&](std::size_t i) {
      return std::pair{parts.resources[i].kind, parts.resources[i].rate};
    });
    split_all<std::tuple<std::size_t, double, std::optional<std::size_t>>>(
        actors_, parts.actors.size(), [&](std::size_t i) {
          const auto& actor = parts.actors[i];
          return std::tuple{actor.program, actor.slowdown, actor.varies};
        });
    split_all<std::size_t>(groups_, parts.groups.size(), [&](std::size_t i) { return parts.groups[i].kind; });
    split_all<std::pair<std::size_t, std::size_t>>(flows_, parts.flows.size(), [&](std::size_t i) {
      return std::pair{parts.groups[parts.flows[i].group].kind, parts.flows[i].figures};
    });
    // A single flow stays alone in its class, so it splits resources only once.
    if (parts.flows.size() == 1) split_resources_by_flows();
  }

  void split_by_traffic(const std::vector<ResourceId>& path) {
    for (const auto id : path) count_use(id.index(), 1);
    split_resources();
  }

  void run() {
    for (std::size_t before = 0, now = 1; now != before;) {
      before = now;
      split_resources_by_actors();
      if (parts_.flows.size() > 1) split_resources_by_flows();
      split_actors();
      if (parts_.flows.size() > 1) split_flows();
      if (parts_.groups.size() > 1) split_groups();
      split_channels();
      now = resources_.count() + actors_.count() + flows_.count() + groups_.count() + channels_.count();
    }
  }

  const Classes& actors() const { return actors_; }
  const Classes& groups() const { return groups_; }
  const Classes& channels() const { return channels_; }
  const Classes& flows() const { return flows_; }
  const Classes& resources() const { return resources_; }

 private:
  template <class Key, class KeyOf>
  void split_all(Classes& classes, std::size_t members, const KeyOf& key_of) {
    Numbering<Key> numbering;
    classes.split(std::views::iota(std::size_t{0}, members),
                  [&](std::size_t member) { return numbering.of(key_of(member)); });
  }

  void count_use(std::size_t resource, std::uint64_t times) {
    if (uses_[resource] == 0) used_.push_back(resource);
    uses_[resource] += times;
  }

  /// @param copies of what has the uses
  void count_uses(const FoldingParts::Uses& uses, std::uint64_t copies) {
    for (const auto& use : uses) count_use(use.member, use.times * copies);
  }

  /// Splits by the number of uses of each copy of a resource.
  void split_resources() {
    resources_.split(
        used_, [&](std::size_t resource) { return uses_[resource] / parts_.resources[resource].copies; });
    for (const auto resource : used_) uses_[resource] = 0;
    used_.clear();
  }

  /// Calls `visit(member)` class by class, and `at_end()` after each class.
  template <class Each, class AtEnd>
  void for_each_class(const Classes& classes, std::size_t members, const Each& visit, const AtEnd& at_end) {
    std::vector<std::size_t> order(members);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t member) { return classes.of(member); });
    for (std::size_t i = 0; i < order.size(); ++i) {
      visit(order[i]);
      if (i + 1 == order.size() || classes.of(order[i]) != classes.of(order[i + 1])) at_end();
    }
  }

  /// Splits by how often each class of actors uses a resource with each kind of flow.
  void split_resources_by_actors() {
    std::size_t kinds = 0;
    for (const auto& actor : parts_.actors) kinds = std::max(kinds, actor.uses.size());
    for (std::size_t kind = 0; kind < kinds; ++kind) {
      for_each_class(
          actors_, parts_.actors.size(),
          [&](std::size_t i) {
            const auto& actor = parts_.actors[i];
            if (kind < actor.uses.size()) count_uses(actor.uses[kind], actor.copies);
          },
          [&] { split_resources(); });
    }
  }

  void split_resources_by_flows() {
    for_each_class(
        flows_, parts_.flows.size(),
        [&](std::size_t i) {
          const auto& flow = parts_.flows[i];
          count_uses(flow.uses, parts_.groups[flow.group].copies);
        },
        [&] { split_resources(); });
  }

  /// Appends to a key how often resources of each class are named, and an end mark.
  void add_classes(std::vector<std::size_t>& key, const FoldingParts::Uses& uses) {
    const auto begin = key.size();
    for (const auto& use : uses) {
      const auto class_number = resources_.of(use.member);
      if (class_number >= times_named_.size()) times_named_.resize(class_number + 1, 0);
      if (times_named_[class_number] == 0) key.push_back(class_number);
      times_named_[class_number] += use.times;
    }
    const auto end = key.size();
    std::sort(key.begin() + static_cast<std::ptrdiff_t>(begin), key.end());
    for (auto i = begin; i < end; ++i) key.push_back(std::exchange(times_named_[key[i]], 0));
    key.push_back(std::numeric_limits<std::size_t>::max());
  }

  void split_actors() {
    std::vector<std::size_t> key;
    split_all<std::vector<std::size_t>>(
        actors_, parts_.actors.size(), [&](std::size_t i) -> const auto& {
          const auto& actor = parts_.actors[i];
          key.clear();
          for (const auto& uses : actor.uses) add_classes(key, uses);
          for (const auto group : actor.groups) key.push_back(groups_.of(group));
          for (const auto channel : actor.channels) key.push_back(channels_.of(channel));
          return key;
        });
  }

  void split_flows() {
    std::vector<std::size_t> key;
    split_all<std::vector<std::size_t>>(
        flows_, parts_.flows.size(), [&](std::size_t i) -> const auto& {
          key.assign(1, groups_.of(parts_.flows[i].group));
          add_classes(key, parts_.flows[i].uses);
          return key;
        });
  }

  void split_groups() {
    std::size_t first_flow = 0;
    split_all<std::vector<std::size_t>>(groups_, parts_.groups.size(), [&](std::size_t group) {
      std::map<std::pair<std::size_t, std::size_t>, std::size_t> members;  // by slot and class of actors
      for (const auto& [slot, actor] : parts_.groups[group].members)
        members[{slot, actors_.of(actor.member)}] += actor.times;
      std::vector<std::size_t> key;
      for (const auto& [member, times] : members) key.insert(key.end(), {member.first, member.second, times});
      const auto begin = static_cast<std::ptrdiff_t>(key.size());
      for (; first_flow < parts_.flows.size() && parts_.flows[first_flow].group == group; ++first_flow)
        key.push_back(flows_.of(first_flow));
      std::sort(key.begin() + begin, key.end());
      return key;
    });
  }

  void split_channels() {
    split_all<std::array<std::size_t, 5>>(channels_, channel_ends_.size(), [&](std::size_t i) {
      const auto& channel = channel_ends_[i];
      return std::array{actors_.of(channel.from.index()), slot_of(channel.from, i),
                        actors_.of(channel.to.index()), slot_of(channel.to, i),
                        static_cast<std::size_t>(channel.depth)};
    });
  }

  std::size_t slot_of(ActorId actor, std::size_t channel) const {
    const auto& channels = parts_.actors[actor.index()].channels;
    return static_cast<std::size_t>(std::ranges::find(channels, channel) - channels.begin());
  }

  const FoldingParts& parts_;
  const std::vector<Channel>& channel_ends_;
  Classes actors_;
  Classes groups_;
  Classes channels_;
  Classes flows_;
  Classes resources_;
  std::vector<std::size_t> times_named_;  ///< by class of resources, by the uses that are added to a key
  std::vector<std::uint64_t> uses_;       ///< by resource: how often the uses counted now name it
  std::vector<std::size_t> used_;         ///< resources with uses_ > 0
};

template <class Tag>
std::vector<Id<Tag>> identity(std::size_t count) {
  std::vector<Id<Tag>> ids;
  for (std::size_t i = 0; i < count; ++i) ids.emplace_back(i);
  return ids;
}

/// By member: the first one of its class.
/// @param part_of its part, by member
template <class Tag, class PartOf>
std::vector<Id<Tag>> representatives(const Classes& classes, std::size_t members, const PartOf& part_of) {
  std::vector<std::size_t> first(classes.numbers(), members);
  std::vector<Id<Tag>> result;
  result.reserve(members);
  for (std::size_t i = 0; i < members; ++i) {
    auto& first_of_class = first[classes.of(part_of(i))];
    result.emplace_back(first_of_class = std::min(first_of_class, i));
  }
  return result;
}

/// The first resource of the class of each part. Parts are resources of the first domain of each kind.
std::vector<ResourceId> representative_resources(const Classes& classes, const PartsOfDomains& domains,
                                                 const IdenticalDomains& alike) {
  const auto count = domains.parts.resources.size();
  std::vector<ResourceId> first(classes.numbers(), ResourceId{std::numeric_limits<std::uint32_t>::max()});
  for (std::size_t i = 0; i < count; ++i) {
    auto& first_of_class = first[classes.of(i)];
    const auto domain = domains.first_of_kind[i / alike.resources()];
    first_of_class = std::min(first_of_class, alike.resource(i % alike.resources(), domain));
  }
  std::vector<ResourceId> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(first[classes.of(i)]);
  return result;
}

/// What is represented by others but for resources.
/// @param part_of_actor by actor; likewise of groups
template <class PartOfActor, class PartOfGroup>
Folding folding_of(const Workload& workload, const FoldingParts& parts, const Refinement& refinement,
                   const PartOfActor& part_of_actor, const PartOfGroup& part_of_group) {
  Folding folding;
  folding.ranks = static_cast<std::size_t>(workload.ranks);
  folding.actor_representative =
      representatives<ActorTag>(refinement.actors(), workload.actors.size(), part_of_actor);
  folding.group_representative =
      representatives<GroupTag>(refinement.groups(), workload.groups.size(), part_of_group);
  folding.channel_representative =
      representatives<ChannelTag>(refinement.channels(), workload.channels.size(), std::identity{});
  std::vector<std::vector<std::uint32_t>> flow_class(parts.groups.size());
  for (std::size_t i = 0; i < parts.flows.size(); ++i)
    flow_class[parts.flows[i].group].push_back(static_cast<std::uint32_t>(refinement.flows().of(i)));
  for (std::size_t i = 0; i < workload.groups.size(); ++i)
    folding.flow_class.push_back(flow_class[part_of_group(i)]);
  return folding;
}

}  // namespace

ResourceRepresentatives::ResourceRepresentatives(std::vector<ResourceId> representatives)
    : representatives_{std::move(representatives)}, counts_(representatives_.size(), 0) {
  for (const auto id : representatives_) ++counts_[id.index()];
}

ResourceRepresentatives::ResourceRepresentatives(std::vector<ResourceId> representatives,
                                                 const IdenticalDomains& alike,
                                                 std::vector<std::uint32_t> kind_of_domain)
    : representatives_{std::move(representatives)},
      counts_(representatives_.size(), 0),
      alike_{alike},
      kind_of_domain_{std::move(kind_of_domain)},
      has_representatives_(alike.count(), false) {
  for (const auto id : representatives_) has_representatives_[alike.domain_of(id)] = true;
  std::vector<std::uint32_t> domains(representatives_.size() / alike.resources(), 0);  // by kind
  for (const auto kind : kind_of_domain_) ++domains[kind];
  for (std::size_t i = 0; i < representatives_.size(); ++i)
    counts_[place_of(representatives_[i])] += domains[i / alike.resources()];
}

std::vector<ResourceId> Folding::fold(const SharedPath& path) const {
  const auto* over = path.over_domains();
  if (over == nullptr) return fold(path.resources());
  std::vector<ResourceId> kept;
  for (std::size_t i = 0; i < path.domains().size(); ++i) {
    const auto domain = path.domains()[i];
    if (!resources.may_be_on(domain)) continue;
    for (const auto id : over->uses[(*over->use_of_domain)[i]]) {
      const auto on_domain = over->alike.on_domain(id, domain);
      if (is_representative(on_domain)) kept.push_back(on_domain);
    }
  }
  return kept;
}

std::vector<ResourceId> Folding::fold(const std::vector<ResourceId>& path) const {
  std::vector<ResourceId> kept;
  std::ranges::copy_if(path, std::back_inserter(kept), [&](ResourceId id) { return is_representative(id); });
  return kept;
}

std::size_t Folding::simulated_ranks() const {
  std::size_t count = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) count += is_representative(ActorId{rank}) ? 1 : 0;
  return count;
}

Folding no_folding(const Workload& workload, const Platform& platform) {
  return {static_cast<std::size_t>(workload.ranks), identity<ActorTag>(workload.actors.size()),
          identity<GroupTag>(workload.groups.size()), identity<ChannelTag>(workload.channels.size()),
          ResourceRepresentatives{identity<ResourceTag>(platform.resources.size())}};
}

Folding find_folding(const Workload& workload, const ActorUses& actors, const std::vector<GroupUse>& groups,
                     const std::vector<const std::vector<ResourceId>*>& traffic, const Platform& platform,
                     const IdenticalDomains* alike) {
  if (alike != nullptr) {
    PartsOfDomains domains{workload, actors, groups, platform, *alike};
    Refinement refinement{domains.parts, workload.channels};
    refinement.run();
    auto folding = folding_of(
        workload, domains.parts, refinement, [&](std::size_t i) { return domains.part_of_actor[i]; },
        [&](std::size_t i) { return domains.part_of_group[i]; });
    folding.resources = {representative_resources(refinement.resources(), domains, *alike), *alike,
                         std::move(domains.kind_of_domain)};
    return folding;
  }
  const auto parts = every_part(workload, actors, groups, platform);
  Refinement refinement{parts, workload.channels};
  for (const auto* path : traffic) refinement.split_by_traffic(*path);
  refinement.run();
  auto folding = folding_of(workload, parts, refinement, std::identity{}, std::identity{});
  folding.resources = ResourceRepresentatives{
      representatives<ResourceTag>(refinement.resources(), platform.resources.size(), std::identity{})};
  return folding;
}

}  // namespace gradway
