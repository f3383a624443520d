// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/folding.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <ranges>
#include <tuple>
#include <utility>

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

  /// By member: the first one of its class.
  std::vector<std::size_t> representatives() const {
    std::vector<std::size_t> first(size_.size(), class_.size());
    std::vector<std::size_t> result(class_.size());
    for (std::size_t i = 0; i < class_.size(); ++i) {
      if (first[class_[i]] == class_.size()) first[class_[i]] = i;
      result[i] = first[class_[i]];
    }
    return result;
  }

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

/// An actor that holds a group, and the slot at which it does.
struct Membership {
  std::size_t actor;
  std::size_t slot;
};

/// A path of a group's flows.
struct FlowAt {
  std::size_t group;
  std::size_t path;
};

std::vector<FlowAt> flows_of(const std::vector<GroupUse>& uses) {
  std::vector<FlowAt> flows;
  for (std::size_t group = 0; group < uses.size(); ++group)
    for (std::size_t path = 0; path < uses[group].paths.size(); ++path) flows.push_back({group, path});
  return flows;
}

/// Refines the classes until they are stable. The cost of a round is linear in the length of all paths.
class Refinement {
 public:
  Refinement(const Workload& workload, const std::vector<ActorUse>& actor_uses,
             const std::vector<GroupUse>& group_uses, const Platform& platform)
      : workload_{workload},
        actor_uses_{actor_uses},
        group_uses_{group_uses},
        actors_{workload.actors.size()},
        groups_{workload.groups.size()},
        channels_{workload.channels.size()},
        flow_at_{flows_of(group_uses)},
        flows_{flow_at_.size()},
        resources_{platform.resources.size()},
        memberships_(workload.groups.size()),
        uses_(platform.resources.size(), 0) {
    split_all<std::pair<ResourceKind, double>>(resources_, platform.resources.size(), [&](std::size_t i) {
      return std::pair{platform.resources[i].kind, platform.resources[i].rate()};
    });
    std::vector<bool> varies;
    for (const auto& program : workload.programs) varies.push_back(program.varies());
    split_all<std::tuple<std::size_t, double, std::size_t>>(
        actors_, workload.actors.size(), [&](std::size_t i) {
          const auto program = workload.actors[i].program.index();
          return std::tuple{program, workload.actors[i].slowdown, varies[program] ? i : 0};
        });
    split_all<std::size_t>(groups_, workload.groups.size(),
                           [&](std::size_t i) { return group_uses[i].kind; });
    split_all<std::pair<std::size_t, std::size_t>>(flows_, flow_at_.size(), [&](std::size_t i) {
      const auto& use = group_uses[flow_at_[i].group];
      return std::pair{use.kind, use.figures[flow_at_[i].path]};
    });
    for (std::size_t i = 0; i < workload.actors.size(); ++i) {
      const auto& slots = workload.actors[i].groups;
      for (std::size_t slot = 0; slot < slots.size(); ++slot)
        memberships_[slots[slot].index()].push_back({i, slot});
    }
    // A single flow stays alone in its class, so it splits resources only once.
    if (flow_at_.size() == 1) split_resources_by_flows();
  }

  void split_by_traffic(const std::vector<ResourceId>& path) {
    count_uses(path);
    split_resources();
  }

  Folding run() {
    for (std::size_t before = 0, now = 1; now != before;) {
      before = now;
      split_resources_by_actors();
      if (flow_at_.size() > 1) split_resources_by_flows();
      split_actors();
      if (flow_at_.size() > 1) split_flows();
      if (workload_.groups.size() > 1) split_groups();
      split_channels();
      now = resources_.count() + actors_.count() + flows_.count() + groups_.count() + channels_.count();
    }
    Folding folding;
    folding.ranks = static_cast<std::size_t>(workload_.ranks);
    for (const auto first : actors_.representatives()) folding.actor_representative.emplace_back(first);
    for (const auto first : groups_.representatives()) folding.group_representative.emplace_back(first);
    for (const auto first : channels_.representatives()) folding.channel_representative.emplace_back(first);
    for (const auto first : resources_.representatives()) folding.resource_representative.emplace_back(first);
    folding.flow_class.resize(group_uses_.size());
    for (std::size_t i = 0; i < flow_at_.size(); ++i)
      folding.flow_class[flow_at_[i].group].push_back(static_cast<std::uint32_t>(flows_.of(i)));
    return folding;
  }

 private:
  template <class Key, class KeyOf>
  void split_all(Classes& classes, std::size_t members, const KeyOf& key_of) {
    Numbering<Key> numbering;
    classes.split(std::views::iota(std::size_t{0}, members),
                  [&](std::size_t member) { return numbering.of(key_of(member)); });
  }

  void count_uses(const std::vector<ResourceId>& path) {
    for (const auto resource : path) {
      if (uses_[resource.index()]++ == 0) used_.push_back(resource.index());
    }
  }

  void split_resources() {
    resources_.split(used_, [&](std::size_t resource) { return uses_[resource]; });
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
    for (const auto& use : actor_uses_) kinds = std::max(kinds, use.size());
    for (std::size_t kind = 0; kind < kinds; ++kind) {
      for_each_class(
          actors_, actor_uses_.size(),
          [&](std::size_t actor) {
            if (kind < actor_uses_[actor].size()) count_uses(actor_uses_[actor][kind]);
          },
          [&] { split_resources(); });
    }
  }

  const std::vector<ResourceId>& path_of(std::size_t flow) const {
    return *group_uses_[flow_at_[flow].group].paths[flow_at_[flow].path];
  }

  void split_resources_by_flows() {
    for_each_class(
        flows_, flow_at_.size(), [&](std::size_t flow) { count_uses(path_of(flow)); },
        [&] { split_resources(); });
  }

  /// Appends to a key how often a path names resources of each class, and an end mark.
  void add_classes(std::vector<std::size_t>& key, const std::vector<ResourceId>& path) {
    const auto begin = key.size();
    for (const auto resource : path) {
      const auto class_number = resources_.of(resource.index());
      if (class_number >= times_named_.size()) times_named_.resize(class_number + 1, 0);
      if (times_named_[class_number]++ == 0) key.push_back(class_number);
    }
    const auto end = key.size();
    std::sort(key.begin() + static_cast<std::ptrdiff_t>(begin), key.end());
    for (auto i = begin; i < end; ++i) key.push_back(std::exchange(times_named_[key[i]], 0));
    key.push_back(std::numeric_limits<std::size_t>::max());
  }

  void split_actors() {
    std::vector<std::size_t> key;
    split_all<std::vector<std::size_t>>(
        actors_, actor_uses_.size(), [&](std::size_t actor) -> const auto& {
          key.clear();
          for (const auto& path : actor_uses_[actor]) add_classes(key, path);
          for (const auto group : workload_.actors[actor].groups) key.push_back(groups_.of(group.index()));
          for (const auto channel : workload_.actors[actor].channels)
            key.push_back(channels_.of(channel.index()));
          return key;
        });
  }

  void split_flows() {
    std::vector<std::size_t> key;
    split_all<std::vector<std::size_t>>(
        flows_, flow_at_.size(), [&](std::size_t flow) -> const auto& {
          key.assign(1, groups_.of(flow_at_[flow].group));
          add_classes(key, path_of(flow));
          return key;
        });
  }

  void split_groups() {
    std::size_t first_flow = 0;
    split_all<std::vector<std::size_t>>(groups_, group_uses_.size(), [&](std::size_t group) {
      std::vector<std::pair<std::size_t, std::size_t>> members;
      for (const auto& membership : memberships_[group])
        members.emplace_back(membership.slot, actors_.of(membership.actor));
      std::ranges::sort(members);
      std::vector<std::size_t> key;
      for (const auto& [slot, class_number] : members) key.insert(key.end(), {slot, class_number});
      const auto begin = static_cast<std::ptrdiff_t>(key.size());
      for (std::size_t path = 0; path < group_uses_[group].paths.size(); ++path)
        key.push_back(flows_.of(first_flow++));
      std::sort(key.begin() + begin, key.end());
      return key;
    });
  }

  void split_channels() {
    split_all<std::array<std::size_t, 5>>(channels_, workload_.channels.size(), [&](std::size_t i) {
      const auto& channel = workload_.channels[i];
      return std::array{actors_.of(channel.from.index()), slot_of(channel.from, i),
                        actors_.of(channel.to.index()), slot_of(channel.to, i),
                        static_cast<std::size_t>(channel.depth)};
    });
  }

  std::size_t slot_of(ActorId actor, std::size_t channel) const {
    const auto& channels = workload_.actors[actor.index()].channels;
    return static_cast<std::size_t>(std::ranges::find(channels, ChannelId{channel}) - channels.begin());
  }

  const Workload& workload_;
  const std::vector<ActorUse>& actor_uses_;
  const std::vector<GroupUse>& group_uses_;
  Classes actors_;
  Classes groups_;
  Classes channels_;
  std::vector<FlowAt> flow_at_;  ///< by flow, in order of groups and paths
  Classes flows_;
  Classes resources_;
  std::vector<std::vector<Membership>> memberships_;  ///< by group
  std::vector<std::size_t> times_named_;  ///< by class of resources, by the path that is added to a key
  std::vector<std::uint32_t> uses_;       ///< by resource: how often the paths counted now name it
  std::vector<std::size_t> used_;         ///< resources with uses_ > 0
};

template <class Tag>
std::vector<Id<Tag>> identity(std::size_t count) {
  std::vector<Id<Tag>> ids;
  for (std::size_t i = 0; i < count; ++i) ids.emplace_back(i);
  return ids;
}

}  // namespace

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
          identity<ResourceTag>(platform.resources.size())};
}

Folding find_folding(const Workload& workload, const std::vector<ActorUse>& actors,
                     const std::vector<GroupUse>& groups,
                     const std::vector<const std::vector<ResourceId>*>& traffic, const Platform& platform) {
  Refinement refinement{workload, actors, groups, platform};
  for (const auto* path : traffic) refinement.split_by_traffic(*path);
  return refinement.run();
}

}  // namespace gradway
