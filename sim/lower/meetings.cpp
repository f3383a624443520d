// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/meetings.hpp"

#include <algorithm>
#include <set>

#include "sim/base/contract.hpp"

namespace gradway {
namespace {

/// The slot at which a member has its group. @pre the workload was checked
Slot slot_of(const Actor& actor, GroupId group) {
  const auto place = std::ranges::find(actor.groups, group);
  return {static_cast<std::uint32_t>(place - actor.groups.begin())};
}

using CallsBySlot = std::map<Slot, std::set<std::pair<CollectiveKind, Bytes>>>;

/// What a program calls, whatever how often.
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

/// The first of equal values decides their number.
template <class Value>
std::size_t number_of(std::map<Value, std::size_t>& known, const Value& value) {
  return known.try_emplace(value, known.size()).first->second;
}

}  // namespace

Meetings::Meetings(const Workload& workload, const Communicators& communicators) {
  std::vector<CallsBySlot> calls;
  for (const auto& program : workload.programs) calls.push_back(calls_of(program));
  groups_.reserve(workload.groups.size());
  for (std::size_t g = 0; g < workload.groups.size(); ++g) {
    const GroupId id{g};
    auto& group = groups_.emplace_back();
    const auto& first = workload.actors[workload.groups[g].members.front().index()];
    for (const auto& call : calls[first.program.index()][slot_of(first, id)]) {
      auto& entry = group.entries[call];
      entry.lowered = communicators.of(id).lower(call.first, call.second);
      add(rests_on_, entry.lowered.rests_on);
    }
    for (auto& [call, entry] : group.entries) {
      for (const auto& flow : entry.lowered.flows) {
        const auto* address = flow.path.address();
        const auto known = std::ranges::find(group.paths, address);
        entry.path.push_back(static_cast<std::size_t>(known - group.paths.begin()));
        if (known == group.paths.end()) group.paths.push_back(address);
      }
    }
  }
}

std::optional<ChannelLimit> Meetings::limit() const {
  std::optional<ChannelLimit> found;
  Bytes largest{-1};
  for (const auto& group : groups_) {
    for (const auto& [call, entry] : group.entries) {
      if (call.second <= largest) continue;
      largest = call.second;
      found = entry.lowered.limit;
    }
  }
  return found;
}

std::vector<GroupUse> Meetings::uses() const {
  std::map<std::vector<double>, std::size_t> known;
  std::vector<GroupUse> uses;
  for (const auto& group : groups_) {
    std::vector<double> figures;  // all that the flows of two groups must have in common
    for (const auto& [call, entry] : group.entries) {
      figures.insert(figures.end(),
                     {static_cast<double>(call.first), call.second.value(), entry.lowered.latency.value()});
      for (std::size_t i = 0; i < entry.path.size(); ++i) {
        const auto& flow = entry.lowered.flows[i];
        figures.insert(figures.end(), {static_cast<double>(entry.path[i]), flow.amount.value(), flow.cap});
      }
    }
    uses.push_back({number_of(known, figures), group.paths});
  }
  return uses;
}

void Meetings::enter(OpGraph& graph, const Folding& folding, const std::vector<std::uint32_t>& sides) {
  std::vector<std::vector<std::size_t>> members(groups_.size());  // by group that stands for them
  for (std::size_t g = 0; g < groups_.size(); ++g)
    members[folding.group_representative[g].index()].push_back(g);
  std::map<std::vector<ResourceId>, std::uint32_t> known;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (members[g].empty()) continue;
    std::vector<std::uint32_t> entered;
    for (std::size_t p = 0; p < groups_[g].paths.size(); ++p) {
      std::vector<ResourceId> path;
      for (const auto member : members[g]) {
        const auto folded = folding.fold(*groups_[member].paths[p]);
        path.insert(path.end(), folded.begin(), folded.end());
      }
      const auto [place, is_new] = known.try_emplace(path, 0);
      if (is_new) place->second = graph.add_path(std::move(path));
      entered.push_back(place->second);
    }
    for (auto& [call, entry] : groups_[g].entries) {
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
        op.side = sides[g];
        entry.ops.push_back(op);
      }
      if (entry.ops.empty() && op.latency > Seconds{}) {
        op.kind = OpKind::delay;
        entry.ops.push_back(op);
      }
    }
  }
}

const std::vector<Op>& Meetings::of(GroupId group, const Call& call) const {
  return groups_[group.index()].entries.at({call.kind, call.bytes}).ops;
}

}  // namespace gradway
