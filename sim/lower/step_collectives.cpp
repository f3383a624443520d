// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/step_collectives.hpp"

#include <algorithm>
#include <tuple>

#include "sim/base/contract.hpp"

namespace gradway {
namespace {

/// The slot at which a member holds the group. @pre the workload was checked
Slot slot_of(const Actor& actor, GroupId group) {
  const auto place = std::ranges::find(actor.groups, group);
  return {static_cast<std::uint32_t>(place - actor.groups.begin())};
}

/// The calls that a program makes on one of its communicators.
std::set<std::pair<CollectiveKind, Bytes>> calls_at(const CallsBySlot& calls, Slot slot) {
  const auto slot_calls = calls.find(slot);
  return slot_calls == calls.end() ? std::set<std::pair<CollectiveKind, Bytes>>{} : slot_calls->second;
}

/// Equal values get the same number, in order of appearance.
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

StepCollectives::SharedCollectives StepCollectives::lowered(
    const Communicator& communicator, const std::set<std::pair<CollectiveKind, Bytes>>& calls) {
  SharedCollectives shared;
  for (const auto& call : calls) {
    auto& entry = shared.entries[call];
    entry.lowered = communicator.lower(call.first, call.second);
    add(provenance_, entry.lowered.provenance);
  }
  for (auto& [call, entry] : shared.entries) {
    for (const auto& flow : entry.lowered.flows) {
      const auto known =
          std::ranges::find_if(shared.paths, [&](const auto& path) { return path.is_copy_of(flow.path); });
      entry.path.push_back(static_cast<std::size_t>(known - shared.paths.begin()));
      if (known == shared.paths.end()) shared.paths.push_back(flow.path);
    }
  }
  return shared;
}

StepCollectives::StepCollectives(const Workload& workload, const Communicators& communicators) {
  for (const auto& program : workload.programs) calls_.push_back(calls_of(program));
  std::map<std::tuple<std::size_t, ProgramId, Slot>, std::size_t> known;  // by communicator, and who calls
  groups_.reserve(workload.groups.size());
  for (std::size_t g = 0; g < workload.groups.size(); ++g) {
    const GroupId id{g};
    const auto& first = workload.actors[workload.groups[g].members.front().index()];
    const auto slot = slot_of(first, id);
    const auto [place, is_new] =
        known.try_emplace({communicators.kind(id), first.program, slot}, shared_.size());
    if (is_new)
      shared_.push_back(lowered(communicators.of(id), calls_at(calls_[first.program.index()], slot)));
    auto& group = groups_.emplace_back(place->second, std::vector<SharedPath>{});
    for (const auto& path : shared_[group.shared].paths) group.paths.push_back(communicators.moved(path, id));
  }
}

std::optional<ChannelLimit> StepCollectives::channel_limit() const {
  std::optional<ChannelLimit> limit;
  Bytes largest{-1};
  for (const auto& shared : shared_) {
    for (const auto& [call, entry] : shared.entries) {
      if (call.second <= largest) continue;
      largest = call.second;
      limit = entry.lowered.limit;
    }
  }
  return limit;
}

std::vector<std::size_t> StepCollectives::figures_of_paths(
    const SharedCollectives& shared, std::map<std::vector<double>, std::size_t>& known) {
  std::vector<std::vector<double>> figures(shared.paths.size());
  double call = 0;
  for (const auto& [_, entry] : shared.entries) {
    for (std::size_t i = 0; i < entry.path.size(); ++i) {
      const auto& flow = entry.lowered.flows[i];
      auto& path_figures = figures[entry.path[i]];
      path_figures.insert(path_figures.end(), {call, flow.amount.value(), flow.cap});
    }
    ++call;
  }
  std::vector<std::size_t> numbers;
  for (const auto& path_figures : figures) numbers.push_back(number_of(known, path_figures));
  return numbers;
}

std::vector<GroupUse> StepCollectives::group_uses() const {
  std::map<std::vector<double>, std::size_t> known;
  std::map<std::vector<double>, std::size_t> known_paths;
  std::vector<std::size_t> kinds;
  std::vector<std::vector<std::size_t>> of_paths;
  for (const auto& shared : shared_) {
    std::vector<double> figures;  // groups whose flows differ in any of these differ in kind
    for (const auto& [call, entry] : shared.entries) {
      figures.insert(figures.end(),
                     {static_cast<double>(call.first), call.second.value(), entry.lowered.latency.value()});
      for (std::size_t i = 0; i < entry.path.size(); ++i) {
        const auto& flow = entry.lowered.flows[i];
        figures.insert(figures.end(), {static_cast<double>(entry.path[i]), flow.amount.value(), flow.cap});
      }
    }
    kinds.push_back(number_of(known, figures));
    of_paths.push_back(figures_of_paths(shared, known_paths));
  }
  std::vector<GroupUse> uses;
  uses.reserve(groups_.size());
  for (const auto& group : groups_)
    uses.push_back({kinds[group.shared], group.shared, group.paths, of_paths[group.shared]});
  return uses;
}

std::vector<std::uint32_t> StepCollectives::add_paths(
    OpGraph& graph, const Folding& folding, const std::vector<std::size_t>& members,
    std::map<std::vector<ResourceId>, std::uint32_t>& known) const {
  std::map<std::uint32_t, std::vector<ResourceId>> full_paths;  // by class of flows
  for (const auto member : members) {
    for (std::size_t p = 0; p < groups_[member].paths.size(); ++p) {
      const auto folded = folding.fold(groups_[member].paths[p]);
      auto& full_path = full_paths[folding.class_of_flow(member, p)];
      full_path.insert(full_path.end(), folded.begin(), folded.end());
    }
  }
  std::vector<std::uint32_t> added;
  for (std::size_t p = 0; p < groups_[members.front()].paths.size(); ++p) {
    auto full_path = full_paths.extract(folding.class_of_flow(members.front(), p));
    added.push_back(Op::absent);
    if (full_path.empty()) continue;
    const auto [place, is_new] = known.try_emplace(full_path.mapped(), 0);
    if (is_new) place->second = graph.add_path(std::move(full_path.mapped()));
    added.back() = place->second;
  }
  return added;
}

CallOps StepCollectives::add_to(OpGraph& graph, const Folding& folding,
                                const std::vector<std::uint32_t>& sides) const {
  std::vector<std::vector<std::size_t>> members(groups_.size());  // by representative group
  for (std::size_t g = 0; g < groups_.size(); ++g)
    members[folding.group_representative[g].index()].push_back(g);
  std::map<std::vector<ResourceId>, std::uint32_t> known;
  CallOps call_ops;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (members[g].empty()) continue;
    const auto paths = add_paths(graph, folding, members[g], known);
    auto& calls = call_ops[GroupId{g}];
    for (const auto& [call, entry] : shared_[groups_[g].shared].entries) {
      auto& ops = calls[call];
      Op op;
      op.latency = entry.lowered.latency;
      op.origin.activity = Activity::collective;
      op.origin.group = static_cast<std::int32_t>(g);
      for (std::size_t i = 0; i < entry.path.size(); ++i) {
        if (paths[entry.path[i]] == Op::absent) continue;
        const auto& flow = entry.lowered.flows[i];
        op.kind = OpKind::flow;
        op.amount = flow.amount.value();
        op.cap = flow.cap;
        op.path = paths[entry.path[i]];
        op.contender = sides[g];
        ops.push_back(op);
      }
      if (ops.empty() && op.latency > Seconds{}) {
        op.kind = OpKind::delay;
        ops.push_back(op);
      }
    }
  }
  return call_ops;
}

}  // namespace gradway
