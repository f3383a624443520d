// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/folding_parts.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace gradway {
namespace {

using Uses = FoldingParts::Uses;

std::uint32_t as_number(std::size_t value) {
  return static_cast<std::uint32_t>(value);
}

/// @param part_of the part that a resource is, by its id
template <class PartOf>
Uses uses_of(const std::vector<ResourceId>& path, const PartOf& part_of) {
  Uses uses;
  uses.reserve(path.size());
  for (const auto id : path) uses.push_back({as_number(part_of(id)), 1});
  return uses;
}

/// An actor without its groups and channels. @param number its number
template <class PartOf>
FoldingParts::Actor actor_part(const Workload& workload, const std::vector<bool>& varies,
                               const ActorUses& uses, std::size_t number, const PartOf& part_of) {
  const auto& actor = workload.actors[number];
  FoldingParts::Actor part{.program = actor.program.index(), .slowdown = actor.slowdown};
  if (varies[part.program]) part.varies = number;
  for (const auto& path : uses(number)) part.uses.push_back(uses_of(path, part_of));
  return part;
}

std::vector<bool> which_vary(const Workload& workload) {
  std::vector<bool> varies;
  for (const auto& program : workload.programs) varies.push_back(program.varies());
  return varies;
}

/// Numbers sequences of numbers: equal sequences have equal numbers.
class Sequences {
 public:
  static constexpr std::uint32_t empty = 0;
  std::uint32_t append(std::uint32_t sequence, std::size_t value) {
    const auto key = static_cast<std::uint64_t>(sequence) << 32U | as_number(value);
    return known_.try_emplace(key, as_number(known_.size() + 1)).first->second;
  }

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> known_;
};

/// Numbers kinds in order of appearance.
struct Kinds {
  std::vector<std::uint32_t> of;      ///< by member
  std::vector<std::uint32_t> counts;  ///< by kind: number of its members
  std::vector<std::uint32_t> first;   ///< by kind: its first member

  explicit Kinds(const std::vector<std::uint32_t>& keys) {
    std::unordered_map<std::uint32_t, std::uint32_t> known;
    for (const auto key : keys) {
      const auto [place, is_new] = known.try_emplace(key, as_number(counts.size()));
      if (is_new) {
        first.push_back(as_number(of.size()));
        counts.push_back(0);
      }
      of.push_back(place->second);
      ++counts[place->second];
    }
  }
  bool is_alone(std::size_t member) const { return counts[of[member]] == 1; }
};

/// Which domains and which groups are alike.
class AlikeDomains {
 public:
  AlikeDomains(const Workload& workload, const std::vector<GroupUse>& groups, const IdenticalDomains& alike)
      : workload_{workload}, groups_{groups}, alike_{alike}, actors_(alike.count()) {
    for (std::size_t i = 0; i < workload.actors.size(); ++i) {
      auto& actors = actors_[alike.domain_of(workload.actors[i].at)];
      place_.push_back(as_number(actors.size()));
      actors.push_back(as_number(i));
    }
    find_places_in_groups();
    Kinds domains{first_keys_of_domains()};
    Kinds groups_alike{first_keys_of_groups()};
    for (std::size_t before = 0, now = 1; before != now;) {
      before = now;
      groups_alike = Kinds{keys_of_groups(groups_alike, domains)};
      domains = Kinds{keys_of_domains(domains, groups_alike)};
      now = domains.counts.size() + groups_alike.counts.size();
    }
    domain_kinds = std::move(domains);
    group_kinds = std::move(groups_alike);
  }

  Kinds domain_kinds{{}};
  Kinds group_kinds{{}};
  const std::vector<std::uint32_t>& actors_of(std::size_t domain) const { return actors_[domain]; }
  /// Its number among those of its domain.
  std::size_t place_of(std::size_t actor) const { return place_[actor]; }

 private:
  /// Which actors of its domain hold the group with an actor, and how the flows use the domain, by actor and
  /// slot.
  void find_places_in_groups() {
    std::size_t slots = 0;
    for (const auto& actor : workload_.actors) {
      first_slot_.push_back(slots);
      slots += actor.groups.size();
    }
    place_at_slot_.resize(slots);
    Sequences sequences;
    std::vector<std::uint32_t> of_domain(alike_.count(), Sequences::empty);
    const auto append = [&](std::size_t domain, std::size_t value) {
      of_domain[domain] = sequences.append(of_domain[domain], value);
    };
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const auto& members = workload_.groups[g].members;
      for (const auto member : members) append(domain_of(member), place_[member.index()]);
      for (const auto& path : groups_[g].paths)
        for (std::size_t i = 0; i < path.domains().size(); ++i)
          append(path.domains()[i], (*path.over_domains()->use_of_domain)[i]);
      for (const auto member : members)
        place_at_slot_[first_slot_[member.index()] + slot_of(member, g)] = of_domain[domain_of(member)];
      for (const auto member : members) of_domain[domain_of(member)] = Sequences::empty;
    }
  }

  std::vector<std::uint32_t> first_keys_of_domains() const {
    Sequences sequences;
    std::map<double, std::size_t> slowdowns;
    const auto varies = which_vary(workload_);
    std::vector<std::uint32_t> keys;
    for (const auto& actors : actors_) {
      auto key = Sequences::empty;
      for (const auto number : actors) {
        const auto& actor = workload_.actors[number];
        const auto slowdown = slowdowns.try_emplace(actor.slowdown, slowdowns.size()).first->second;
        const auto random = varies[actor.program.index()] ? number + 1 : 0;
        for (const auto value : {actor.at.index() % alike_.devices(), actor.program.index(), slowdown,
                                 std::size_t{random}, actor.groups.size()})
          key = sequences.append(key, value);
      }
      keys.push_back(key);
    }
    return keys;
  }

  /// By what is the same for groups of a kind of communicator, and the slots of their members.
  std::vector<std::uint32_t> first_keys_of_groups() const {
    Sequences sequences;
    std::vector<std::uint32_t> keys;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      auto key = sequences.append(Sequences::empty, groups_[g].shared);
      const auto& members = workload_.groups[g].members;
      std::size_t slot = 0;
      for (std::size_t i = 0; i < members.size(); ++i) {
        const auto next = slot_of(members[i], g);
        if (i > 0 && next == slot) continue;
        slot = next;
        key = sequences.append(sequences.append(key, i), slot);
      }
      keys.push_back(key);
    }
    return keys;
  }

  std::vector<std::uint32_t> keys_of_groups(const Kinds& groups, const Kinds& domains) const {
    Sequences sequences;
    std::vector<std::uint32_t> keys;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      auto key = sequences.append(Sequences::empty, groups.of[g]);
      const auto& members = workload_.groups[g].members;
      auto last = alike_.count();
      for (std::size_t i = 0; i < members.size() && !groups.is_alone(g); ++i) {
        const auto domain = domain_of(members[i]);
        if (domain == last) continue;
        last = domain;
        key = sequences.append(key, domains.of[domain]);
      }
      keys.push_back(key);
    }
    return keys;
  }

  std::vector<std::uint32_t> keys_of_domains(const Kinds& domains, const Kinds& groups) const {
    Sequences sequences;
    std::vector<std::uint32_t> keys;
    for (std::size_t d = 0; d < actors_.size(); ++d) {
      auto key = sequences.append(Sequences::empty, domains.of[d]);
      for (const auto number : actors_[d]) {
        const auto& slots = workload_.actors[number].groups;
        for (std::size_t slot = 0; slot < slots.size() && !domains.is_alone(d); ++slot)
          key = sequences.append(sequences.append(key, groups.of[slots[slot].index()]),
                                 place_at_slot_[first_slot_[number] + slot]);
      }
      keys.push_back(key);
    }
    return keys;
  }

  std::size_t domain_of(ActorId actor) const { return alike_.domain_of(workload_.actors[actor.index()].at); }
  std::size_t slot_of(ActorId actor, std::size_t group) const {
    const auto& slots = workload_.actors[actor.index()].groups;
    return static_cast<std::size_t>(std::ranges::find(slots, GroupId{group}) - slots.begin());
  }

  const Workload& workload_;
  const std::vector<GroupUse>& groups_;
  const IdenticalDomains& alike_;
  std::vector<std::vector<std::uint32_t>> actors_;  ///< by domain
  std::vector<std::uint32_t> place_;                ///< by actor
  std::vector<std::size_t> first_slot_;             ///< by actor: where its slots begin in `place_at_slot_`
  std::vector<std::uint32_t> place_at_slot_;
};

/// Adds up how often members are named.
class Sums {
 public:
  explicit Sums(std::size_t members) : times_(members, 0) {}

  void add(std::size_t member, std::size_t times) {
    if (times_[member] == 0) named_.push_back(as_number(member));
    times_[member] += as_number(times);
  }
  Uses take() {
    Uses uses;
    for (const auto member : named_) uses.push_back({member, std::exchange(times_[member], 0)});
    named_.clear();
    return uses;
  }

 private:
  std::vector<std::uint32_t> times_;
  std::vector<std::uint32_t> named_;
};

}  // namespace

FoldingParts every_part(const Workload& workload, const ActorUses& uses, const std::vector<GroupUse>& groups,
                        const Platform& platform) {
  FoldingParts parts;
  const auto varies = which_vary(workload);
  const auto index_of = [](auto id) { return id.index(); };
  parts.actors.reserve(workload.actors.size());
  parts.resources.reserve(platform.resources.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    parts.groups.push_back({.kind = groups[g].kind});
    for (std::size_t path = 0; path < groups[g].paths.size(); ++path)
      parts.flows.push_back(
          {g, groups[g].figures[path], uses_of(groups[g].paths[path].resources(), index_of)});
  }
  parts.groups.resize(workload.groups.size());
  for (std::size_t i = 0; i < workload.actors.size(); ++i) {
    auto& part = parts.actors.emplace_back(actor_part(workload, varies, uses, i, index_of));
    for (const auto group : workload.actors[i].groups) {
      parts.groups[group.index()].members.push_back({part.groups.size(), {as_number(i), 1}});
      part.groups.push_back(as_number(group.index()));
    }
    for (const auto channel : workload.actors[i].channels)
      part.channels.push_back(as_number(channel.index()));
  }
  for (const auto& resource : platform.resources) parts.resources.push_back({resource.kind, resource.rate()});
  return parts;
}

PartsOfDomains::PartsOfDomains(const Workload& workload, const ActorUses& uses,
                               const std::vector<GroupUse>& groups, const Platform& platform,
                               const IdenticalDomains& alike) {
  AlikeDomains kinds{workload, groups, alike};
  const auto varies = which_vary(workload);
  const auto& kind_of = kinds.domain_kinds.of;
  const auto resource_part = [&](ResourceId id) {
    return kind_of[alike.domain_of(id)] * alike.resources() + alike.number_in_domain(id);
  };
  std::vector<std::size_t> first_actor;  // by kind of domain
  std::size_t most_slots = 1;
  for (std::size_t kind = 0; kind < kinds.domain_kinds.first.size(); ++kind) {
    const auto domain = kinds.domain_kinds.first[kind];
    const auto copies = kinds.domain_kinds.counts[kind];
    first_actor.push_back(parts.actors.size());
    for (const auto number : kinds.actors_of(domain)) {
      auto& part = parts.actors.emplace_back(actor_part(workload, varies, uses, number, resource_part));
      part.copies = copies;
      for (const auto group : workload.actors[number].groups)
        part.groups.push_back(kinds.group_kinds.of[group.index()]);
      most_slots = std::max(most_slots, part.groups.size());
    }
    for (std::size_t i = 0; i < alike.resources(); ++i) {
      const auto& resource = platform.resources[alike.resource(i, domain).index()];
      parts.resources.push_back({resource.kind, resource.rate(), copies});
    }
  }
  for (std::size_t i = 0; i < workload.actors.size(); ++i)
    part_of_actor.push_back(
        as_number(first_actor[kind_of[alike.domain_of(workload.actors[i].at)]] + kinds.place_of(i)));
  Sums members{parts.actors.size() * most_slots};
  Sums named{parts.resources.size()};
  for (std::size_t kind = 0; kind < kinds.group_kinds.first.size(); ++kind) {
    const auto number = kinds.group_kinds.first[kind];
    auto& group = parts.groups.emplace_back(
        FoldingParts::Group{.kind = groups[number].kind, .copies = kinds.group_kinds.counts[kind]});
    for (const auto member : workload.groups[number].members) {
      const auto& slots = workload.actors[member.index()].groups;
      const auto slot = std::ranges::find(slots, GroupId{number}) - slots.begin();
      members.add(part_of_actor[member.index()] * most_slots + static_cast<std::size_t>(slot), 1);
    }
    for (const auto& use : members.take())
      group.members.push_back({use.member % most_slots, {as_number(use.member / most_slots), use.times}});
    for (std::size_t i = 0; i < groups[number].paths.size(); ++i) {
      const auto& path = groups[number].paths[i];
      const auto& over = *path.over_domains();
      std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> domains;  // by use and kind
      for (std::size_t d = 0; d < path.domains().size(); ++d)
        ++domains[{(*over.use_of_domain)[d], kind_of[path.domains()[d]]}];
      for (const auto& [use, count] : domains)
        for (const auto id : over.uses[use.first])
          named.add(use.second * alike.resources() + alike.number_in_domain(id), count);
      parts.flows.push_back({kind, groups[number].figures[i], named.take()});
    }
  }
  first_of_kind = std::move(kinds.domain_kinds.first);
  kind_of_domain = std::move(kinds.domain_kinds.of);
  part_of_group = std::move(kinds.group_kinds.of);
}

}  // namespace gradway
