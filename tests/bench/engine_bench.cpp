// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "sim/engine/fluid/fluid_engine.hpp"
#include "sim/graph/op_graph.hpp"
#include "sim/platform/platform.hpp"

using namespace gradway;

namespace {

constexpr int rounds = 24;

struct Work {
  Platform platform;
  OpGraph graph;
};

/// Rounds of one op on each rank, all ranks joined after each: the shape of a training step. Every rank has a
/// resource and a queue of its own.
Work lock_step(std::int64_t ranks, OpKind kind, bool queued) {
  Work work;
  std::vector<Op> ops(static_cast<std::size_t>(ranks));
  for (auto& op : ops) {
    op.kind = kind;
    if (kind == OpKind::delay) op.latency = 1_ms;
    if (kind == OpKind::flow) {
      op.path = work.graph.add_path({ResourceId{work.platform.resources.size()}});
      op.amount = 1;
      op.cap = 1;
    }
    if (queued) op.queue = work.graph.add_queue("queue");
    work.platform.resources.push_back({ResourceKind::gpu, 0, 1});
  }
  OpId barrier = work.graph.add({});
  for (int round = 0; round < rounds; ++round) {
    const OpId end = work.graph.add({});
    for (const auto& op : ops) {
      const OpId id = work.graph.add(op);
      work.graph.add_edge(barrier, id);
      work.graph.add_edge(id, end);
    }
    barrier = end;
  }
  return work;
}

/// Items are ops.
void run_fluid(benchmark::State& state, const Work& work) {
  const FluidEngine engine;
  for (auto _ : state) benchmark::DoNotOptimize(engine.run(work.platform, work.graph).end.data());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(work.graph.size()));
}

void scheduler_joins(benchmark::State& state) {
  run_fluid(state, lock_step(state.range(0), OpKind::join, false));
}
BENCHMARK(scheduler_joins)->RangeMultiplier(8)->Range(8, 32768);

void scheduler_queued_joins(benchmark::State& state) {
  run_fluid(state, lock_step(state.range(0), OpKind::join, true));
}
BENCHMARK(scheduler_queued_joins)->RangeMultiplier(8)->Range(8, 32768);

void scheduler_delays(benchmark::State& state) {
  run_fluid(state, lock_step(state.range(0), OpKind::delay, false));
}
BENCHMARK(scheduler_delays)->RangeMultiplier(8)->Range(8, 32768);

void scheduler_kernels(benchmark::State& state) {
  run_fluid(state, lock_step(state.range(0), OpKind::flow, false));
}
BENCHMARK(scheduler_kernels)->RangeMultiplier(8)->Range(8, 32768);

}  // namespace
