// SPDX-License-Identifier: Apache-2.0
#include "sim/run/overlap.hpp"

#include <limits>

#include "sim/lower/alone_time.hpp"
#include "sim/run/steady_state.hpp"

namespace gradway {
namespace {

/// The graph with nothing left of its collectives but that they are waited for.
OpGraph without_collectives(const OpGraph& graph) {
  OpGraph rest;
  rest.reserve(graph.size(), graph.edges().size());
  for (const auto& path : graph.paths()) rest.add_path(path);
  for (const auto& queue : graph.queues()) rest.add_queue(queue);
  for (const auto& side : graph.sides()) rest.add_side(side);
  for (const auto& op : graph.ops()) {
    if (op.origin.activity != Activity::collective) {
      rest.add(op);
      continue;
    }
    Op join;
    join.origin = op.origin;
    join.origin.activity = Activity::marker;
    rest.add(join);
  }
  for (const auto& edge : graph.edges()) rest.add_edge(edge.before, edge.after);
  return rest;
}

Seconds step_without_collectives(const Run& run, const CollectiveLowering& collectives,
                                 std::string_view engine) {
  const auto lowered = [&](const WorkloadGraph& workload) {
    auto all = lower(workload, run.scenario, collectives);
    all.ops = without_collectives(all.ops);
    return all;
  };
  return run_to_steady_state(run.workload, run.scenario.platform, engine, lowered).window.each();
}

}  // namespace

Overlap overlap_of(const Run& run, std::string_view engine) {
  Overlap overlap;
  const CollectiveLowering collectives{run.scenario};
  overlap.without_collectives = step_without_collectives(run, collectives, engine);
  Bytes largest{};
  std::vector<CollectiveEvidence> rests_on;
  for (const auto& task : run.workload.tasks) {
    if (task.kind != TaskKind::collective) continue;
    auto lowered = collectives.lower(task.collective, task.bytes);
    add(rests_on, lowered.rests_on);
    overlap.collectives += time_alone(lowered, run.scenario.platform);
    if (task.bytes >= largest) overlap.limit = lowered.limit;
    largest = std::max(largest, task.bytes);
    lowered.latency = Seconds{};
    for (auto& flow : lowered.flows) flow.cap = std::numeric_limits<double>::infinity();
    overlap.links += time_alone(lowered, run.scenario.platform);
  }
  for (const auto& evidence : rests_on) overlap.basis.push_back(collectives.basis_text(evidence));
  return overlap;
}

}  // namespace gradway
