// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics/view.hpp"

#include <algorithm>
#include <cstddef>

namespace gradway {
namespace {

ActorId first_of(const Workload& workload, ProgramId program) {
  const auto actor = std::ranges::find(workload.actors, program, &Actor::program);
  return ActorId{static_cast<std::size_t>(actor - workload.actors.begin())};
}

}  // namespace

View::View(const Workload& workload, const Folding& folding, ActorId actor)
    : workload_{workload},
      program_{workload.program_of(actor)},
      program_id_{workload.actors[actor.index()].program},
      actor_{static_cast<std::int32_t>(folding.actor_representative[actor.index()].index())} {
  for (const auto group : workload.actors[actor.index()].groups)
    groups_.push_back(static_cast<std::int32_t>(folding.group_representative[group.index()].index()));
}

View::View(const Workload& workload, const Folding& folding, ProgramId program)
    : View{workload, folding, first_of(workload, program)} {}

Purpose View::purpose_of(const Origin& origin) const {
  if (origin.group == Origin::none) return Purpose::data;
  return workload_.groups[static_cast<std::size_t>(origin.group)].purpose;
}

std::int32_t View::task_of(const Origin& origin, const MatchingCalls& calls) const {
  if (origin.actor != Origin::none) return origin.task;
  const auto slot = std::ranges::find(groups_, origin.group) - groups_.begin();
  return calls.task_of(program_id_, {static_cast<std::uint32_t>(slot)}, origin);
}

bool View::sees(const Origin& origin) const {
  if (origin.actor != Origin::none) return origin.actor == actor_;
  return origin.task != Origin::none && std::ranges::find(groups_, origin.group) != groups_.end();
}

std::vector<std::vector<std::size_t>> seen_by(const std::vector<View>& views, const OpGraph& graph,
                                              const std::vector<std::size_t>& ops) {
  using Views = std::vector<std::size_t>;  // rising
  const auto add = [](std::vector<Views>& lists, std::int32_t number, std::size_t view) {
    const auto place = static_cast<std::size_t>(number);
    if (lists.size() <= place) lists.resize(place + 1);
    if (lists[place].empty() || lists[place].back() != view) lists[place].push_back(view);
  };
  std::vector<Views> by_actor, by_group;
  for (std::size_t i = 0; i < views.size(); ++i) {
    add(by_actor, views[i].actor(), i);
    for (const auto group : views[i].groups()) add(by_group, group, i);
  }
  std::vector<std::vector<std::size_t>> seen(views.size());
  for (const auto op : ops) {
    const auto& origin = graph.ops()[op].origin;
    const bool is_of_actor = origin.actor != Origin::none;
    if (!is_of_actor && (origin.task == Origin::none || origin.group == Origin::none)) continue;
    const auto& lists = is_of_actor ? by_actor : by_group;
    const auto place = static_cast<std::size_t>(is_of_actor ? origin.actor : origin.group);
    if (place >= lists.size()) continue;
    for (const auto view : lists[place]) seen[view].push_back(op);
  }
  return seen;
}

}  // namespace gradway
