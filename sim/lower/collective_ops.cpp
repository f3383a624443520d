// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/collective_ops.hpp"

#include <algorithm>

namespace gradway {

CollectiveOps::CollectiveOps(const WorkloadGraph& workload, const CollectiveLowering& collectives) {
  for (const auto& task : workload.tasks) {
    if (task.kind != TaskKind::collective) continue;
    const auto [entry, is_new] = entries_.try_emplace({task.collective, task.bytes});
    if (!is_new) continue;
    entry->second.lowered = collectives.lower(task.collective, task.bytes);
    add(rests_on_, entry->second.lowered.rests_on);
  }
}

std::optional<ChannelLimit> CollectiveOps::limit() const {
  const auto largest =
      std::ranges::max_element(entries_, {}, [](const auto& entry) { return entry.first.second; });
  return largest == entries_.end() ? std::nullopt : largest->second.lowered.limit;
}

std::vector<const std::vector<ResourceId>*> CollectiveOps::paths() const {
  std::vector<const std::vector<ResourceId>*> all;
  for (const auto& [call, entry] : entries_) {
    for (const auto& flow : entry.lowered.flows) all.push_back(flow.path.address());
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

void CollectiveOps::enter(OpGraph& graph, const Folding& folding, std::uint32_t side) {
  std::map<std::vector<ResourceId>, std::uint32_t> known;
  std::map<const std::vector<ResourceId>*, std::uint32_t> folded;  // most calls take the same paths
  for (auto& [call, entry] : entries_) {
    Op op;
    op.latency = entry.lowered.latency;
    op.origin.activity = Activity::collective;
    for (const auto& flow : entry.lowered.flows) {
      const auto [entered, is_first] = folded.try_emplace(flow.path.address(), 0);
      if (is_first) {
        auto path = folding.fold(flow.path);
        const auto [place, is_new] = known.try_emplace(path, 0);
        if (is_new) place->second = graph.add_path(std::move(path));
        entered->second = place->second;
      }
      op.kind = OpKind::flow;
      op.amount = flow.amount.value();
      op.cap = flow.cap;
      op.path = entered->second;
      op.side = side;
      entry.ops.push_back(op);
    }
    if (entry.ops.empty() && op.latency > Seconds{}) {
      op.kind = OpKind::delay;
      entry.ops.push_back(op);
    }
  }
}

const std::vector<Op>& CollectiveOps::of(const Task& task) const {
  return entries_.at({task.collective, task.bytes}).ops;
}

}  // namespace gradway
