// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/meetings.hpp"

#include <algorithm>
#include <tuple>

#include "sim/base/contract.hpp"

namespace gradway {
namespace {

/// The slot at which a member has its group. @pre the workload was checked
Slot slot_of(const Actor& actor, GroupId group) {
  const auto place = std::ranges::find(actor.groups, group);
  return {static_cast<std::uint32_t>(place - actor.groups.begin())};
}

/// What a program calls on one of its communicators.
std::set<std::pair<CollectiveKind, Bytes>> calls_at(const CallsBySlot& calls, Slot slot) {
  const auto found = calls.find(slot);
  return found == calls.end() ? std::set<std::pair<CollectiveKind, Bytes>>{} : found->second;
}

/// The first of equal values decides their number.
template <class Value>
std::size_t number_of(std::map<Value, std::size_t>& known, const Value& value) {
  return known.try_emplace(value, known.size()).first->second;
}

}  // namespace

CallsBySlot calls_of(const Program& program) {
  CallsBySlot calls;
  const Call* last = nullptr;
  for (const auto& task : program.tasks) {
    const auto* call = std::get_if<Call>(&task.work);
    if (!call || (last && *last == *call)) continue;
    calls[call->group].insert({call->kind, call->bytes});
    last = call;
  }
  return calls;
}

Meetings::Alike Meetings::lowered(const Communicator& communicator,
                                  const std::set<std::pair<CollectiveKind, Bytes>>& calls) {
  Alike alike;
  for (const auto& call : calls) {
    auto& entry = alike.entries[call];
    entry.lowered = communicator.lower(call.first, call.second);
    add(provenance_, entry.lowered.provenance);
  }
  for (auto& [call, entry] : alike.entries) {
    for (const auto& flow : entry.lowered.flows) {
      const auto* address = flow.path.address();
      const auto known = std::ranges::find(alike.paths, address);
      entry.path.push_back(static_cast<std::size_t>(known - alike.paths.begin()));
      if (known == alike.paths.end()) alike.paths.push_back(address);
    }
  }
  return alike;
}

Meetings::Meetings(const Workload& workload, const Communicators& communicators) {
  for (const auto& program : workload.programs) calls_.push_back(calls_of(program));
  std::map<std::tuple<std::size_t, ProgramId, Slot>, std::size_t> known;  // by communicator, and who calls
  groups_.reserve(workload.groups.size());
  for (std::size_t g = 0; g < workload.groups.size(); ++g) {
    const GroupId id{g};
    const auto& first = workload.actors[workload.groups[g].members.front().index()];
    const auto slot = slot_of(first, id);
    const auto [place, is_new] =
        known.try_emplace({communicators.kind(id), first.program, slot}, alike_.size());
    if (is_new)
      alike_.push_back(lowered(communicators.of(id), calls_at(calls_[first.program.index()], slot)));
    auto& group = groups_.emplace_back(place->second);
    if (communicators.is_first_of_kind(id)) continue;
    for (const auto* path : alike_[group.alike].paths) group.moved.push_back(communicators.moved(*path, id));
  }
}

std::optional<ChannelLimit> Meetings::limit() const {
  std::optional<ChannelLimit> found;
  Bytes largest{-1};
  for (const auto& alike : alike_) {
    for (const auto& [call, entry] : alike.entries) {
      if (call.second <= largest) continue;
      largest = call.second;
      found = entry.lowered.limit;
    }
  }
  return found;
}

std::vector<GroupUse> Meetings::uses() const {
  std::map<std::vector<double>, std::size_t> known;
  std::vector<std::size_t> kinds;
  for (const auto& alike : alike_) {
    std::vector<double> figures;  // all that the flows of two groups must have in common
    for (const auto& [call, entry] : alike.entries) {
      figures.insert(figures.end(),
                     {static_cast<double>(call.first), call.second.value(), entry.lowered.latency.value()});
      for (std::size_t i = 0; i < entry.path.size(); ++i) {
        const auto& flow = entry.lowered.flows[i];
        figures.insert(figures.end(), {static_cast<double>(entry.path[i]), flow.amount.value(), flow.cap});
      }
    }
    kinds.push_back(number_of(known, figures));
  }
  std::vector<GroupUse> uses;
  uses.reserve(groups_.size());
  for (const auto& group : groups_) {
    auto& use = uses.emplace_back(kinds[group.alike]);
    for (std::size_t i = 0; i < alike_[group.alike].paths.size(); ++i) use.paths.push_back(&path(group, i));
  }
  return uses;
}

OpsOfCalls Meetings::enter(OpGraph& graph, const Folding& folding,
                           const std::vector<std::uint32_t>& sides) const {
  std::vector<std::vector<std::size_t>> members(groups_.size());  // by group that stands for them
  for (std::size_t g = 0; g < groups_.size(); ++g)
    members[folding.group_representative[g].index()].push_back(g);
  std::map<std::vector<ResourceId>, std::uint32_t> known;
  OpsOfCalls all;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (members[g].empty()) continue;
    const auto& alike = alike_[groups_[g].alike];
    std::vector<std::uint32_t> entered;
    for (std::size_t p = 0; p < alike.paths.size(); ++p) {
      std::vector<ResourceId> whole;
      for (const auto member : members[g]) {
        const auto folded = folding.fold(path(groups_[member], p));
        whole.insert(whole.end(), folded.begin(), folded.end());
      }
      const auto [place, is_new] = known.try_emplace(whole, 0);
      if (is_new) place->second = graph.add_path(std::move(whole));
      entered.push_back(place->second);
    }
    auto& of_group = all[GroupId{g}];
    for (const auto& [call, entry] : alike.entries) {
      auto& ops = of_group[call];
      Op op;
      op.latency = entry.lowered.latency;
      op.origin.activity = Activity::collective;
      op.origin.group = static_cast<std::int32_t>(g);
      for (std::size_t i = 0; i < entry.path.size(); ++i) {
        const auto& flow = entry.lowered.flows[i];
        op.kind = OpKind::flow;
        op.amount = flow.amount.value();
        op.cap = flow.cap;
        op.path = entered[entry.path[i]];
        op.contender = sides[g];
        ops.push_back(op);
      }
      if (ops.empty() && op.latency > Seconds{}) {
        op.kind = OpKind::delay;
        ops.push_back(op);
      }
    }
  }
  return all;
}

}  // namespace gradway
