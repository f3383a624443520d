// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/rank_layout.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace gradway {

RankLayout::RankLayout(Workload& workload, const Job& job, const Platform& platform)
    : workload_{workload}, layout_{job.layout}, job_{job} {
  for (int rank = 0; rank < job.gpus; ++rank) {
    places_.push_back(place_of(layout_, job.gpus, rank));
    workload.actors.push_back({.program = ProgramId{static_cast<std::size_t>(places_.back().pipeline)},
                               .at = platform.gpus[static_cast<std::size_t>(rank)]});
  }
  workload.actors.back().slowdown = job.slow_gpu;
}

void RankLayout::add(const Partition& partition) {
  const int replicas = partition.of_experts ? job_.expert_replicas() : job_.replicas();
  int colours = 0;
  for (int replica = 0; replica < replicas; ++replica)
    colours = std::max(colours, partition.colour(replica) + 1);
  join(partition.name, colours * (job_.gpus / replicas), [&](const RankPlace& place) {
    const int experts = place.expert_tensor + layout_.expert_tensor * place.expert;
    const int model_part = partition.of_experts
                               ? experts + layout_.expert_tensor * layout_.expert * place.pipeline
                               : place.tensor + layout_.tensor * place.pipeline;
    return partition.colour(partition.of_experts ? place.expert_data : place.replica) + colours * model_part;
  });
}

void RankLayout::add_inside(RankGroup group) {
  const std::string name{name_of(group)};
  const int replicas = job_.replicas();
  const int expert_replicas = job_.expert_replicas();
  switch (group) {
    case RankGroup::tensor:
      return join(
          name, replicas * layout_.pipeline,
          [&](const RankPlace& place) { return place.replica + replicas * place.pipeline; }, Purpose::tensor);
    case RankGroup::context:
      return join(
          name, job_.gpus / layout_.context,
          [&](const RankPlace& place) {
            return place.tensor + layout_.tensor * (place.data + job_.data_parallel() * place.pipeline);
          },
          Purpose::context);
    case RankGroup::expert:
      return join(
          name, job_.gpus / layout_.expert,
          [&](const RankPlace& place) {
            return place.expert_tensor +
                   layout_.expert_tensor * (place.expert_data + expert_replicas * place.pipeline);
          },
          Purpose::expert);
    case RankGroup::expert_tensor:
      return join(
          name, job_.gpus / layout_.expert_tensor,
          [&](const RankPlace& place) {
            return place.expert + layout_.expert * (place.expert_data + expert_replicas * place.pipeline);
          },
          Purpose::expert);
  }
}

void RankLayout::add_stages() {
  join("scales", layout_.pipeline, [](const RankPlace& place) { return place.pipeline; });
}

void RankLayout::add_pairs(const std::string& name, int sender, int receiver) {
  const auto colour = [&](const RankPlace& place) {
    return place.pipeline == sender || place.pipeline == receiver
               ? place.tensor + layout_.tensor * place.replica
               : -1;
  };
  const int pairs = layout_.tensor * job_.replicas();
  join(name, pairs, colour, Purpose::pipeline);
  // The sending rank comes first.
  if (sender < receiver) return;
  for (std::ptrdiff_t group = pairs; group > 0; --group)
    std::ranges::reverse(workload_.groups.end()[-group].members);
}

void RankLayout::join(const std::string& name, int count, const std::function<int(const RankPlace&)>& colour,
                      Purpose purpose) {
  const auto first = workload_.groups.size();
  workload_.groups.resize(first + static_cast<std::size_t>(count));
  for (std::size_t rank = 0; rank < places_.size(); ++rank) {
    const int group_colour = colour(places_[rank]);
    if (group_colour < 0) continue;
    const auto group = first + static_cast<std::size_t>(group_colour);
    workload_.groups[group].members.emplace_back(rank);
    workload_.actors[rank].groups.emplace_back(group);
  }
  for (int i = 0; i < count; ++i) {
    auto& group = workload_.groups[first + static_cast<std::size_t>(i)];
    group.name = count == 1 ? name : fmt::format("{} {}", name, i);
    group.purpose = purpose;
  }
}

}  // namespace gradway
