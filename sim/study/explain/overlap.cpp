// SPDX-License-Identifier: Apache-2.0
#include "sim/study/explain/overlap.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/nccl/alone_time.hpp"
#include "sim/run/steady_state.hpp"

namespace gradway {
namespace {

/// The graph with a join in place of each collective and of each hold.
OpGraph without_collectives(const OpGraph& graph) {
  OpGraph joined;
  joined.reserve(graph.size(), graph.edges().size());
  for (const auto& path : graph.paths()) joined.add_path(path);
  for (const auto& queue : graph.queues()) joined.add_queue(queue);
  for (const auto& side : graph.contenders()) joined.add_contender(side);
  for (const auto& op : graph.ops()) {
    if (op.origin.activity != Activity::collective && op.kind != OpKind::hold) {
      joined.add(op);
      continue;
    }
    Op join;
    join.origin = op.origin;
    join.origin.activity = Activity::marker;
    joined.add(join);
  }
  for (const auto& edge : graph.edges()) joined.add_edge(edge.before, edge.after);
  return joined;
}

Seconds step_without_collectives(const Run& run, const Communicators& communicators,
                                 std::string_view engine) {
  const auto lowering_plan = make_lowering_plan(run.workload, run.scenario, communicators);
  const auto lowered = [&](const Workload& workload) {
    auto lowering = lower(workload, run.scenario.platform, communicators, lowering_plan);
    lowering.ops = without_collectives(lowering.ops);
    return lowering;
  };
  return run_to_steady_state(run.workload, run.scenario.platform, engine, lowered).window.each();
}

}  // namespace

Overlap overlap_of(const Run& run, std::string_view engine) {
  Overlap overlap;
  const Communicators communicators{run.workload, run.scenario};
  overlap.without_collectives = step_without_collectives(run, communicators, engine);
  Bytes largest{};
  const auto& program = run.workload.programs[run.measured.program.index()];
  const auto actor = std::ranges::find(run.workload.actors, run.measured.program, &Actor::program);
  for (const auto& task : program.tasks) {
    const auto* call = std::get_if<Call>(&task.work);
    if (!call) continue;
    const auto& communicator = communicators.of(actor->groups[call->group.index]);
    auto lowered = communicator.lower(call->kind, call->bytes);
    for (const auto& collective : lowered.provenance) {
      auto from = collectives_from(collective, run.scenario.calibration);
      if (std::ranges::find(overlap.basis, from) == overlap.basis.end())
        overlap.basis.push_back(std::move(from));
    }
    overlap.collectives += time_alone(lowered, run.scenario.platform);
    if (call->bytes >= largest) overlap.limit = lowered.limit;
    largest = std::max(largest, call->bytes);
    lowered.latency = Seconds{};
    for (auto& flow : lowered.flows) flow.cap = std::numeric_limits<double>::infinity();
    overlap.links += time_alone(lowered, run.scenario.platform);
  }
  return overlap;
}

}  // namespace gradway
