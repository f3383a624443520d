// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <string>

#include "sim/run/simulate.hpp"
#include "tests/bench/scenarios.hpp"

using namespace gradway;

namespace {

/// From a scenario in memory to the measured step. Items are ops.
void simulate_at(benchmark::State& state, const std::string& name, const std::string& engine,
                 FoldRanks fold) {
  const auto scenario = bench::load(name, state.range(0));
  std::size_t ops = 0;
  for (auto _ : state) ops = simulate(scenario, engine, fold).ops.size();
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(ops));
  state.counters["ops"] = static_cast<double>(ops);
}

void ddp_24(benchmark::State& state, FoldRanks fold) {
  simulate_at(state, "scale/ddp-24", "fluid", fold);
}
BENCHMARK_CAPTURE(ddp_24, all_ranks, FoldRanks::no)->RangeMultiplier(4)->Range(16, 16384)->Arg(8);
BENCHMARK_CAPTURE(ddp_24, folded, FoldRanks::yes)->RangeMultiplier(4)->Range(16, 16384)->Arg(8);

void ring_all_reduce(benchmark::State& state, FoldRanks fold) {
  simulate_at(state, "scale/ring-all-reduce", "fluid", fold);
}
BENCHMARK_CAPTURE(ring_all_reduce, all_ranks, FoldRanks::no)->RangeMultiplier(4)->Range(16, 16384)->Arg(8);
BENCHMARK_CAPTURE(ring_all_reduce, folded, FoldRanks::yes)->RangeMultiplier(4)->Range(16, 16384)->Arg(8);

/// Both engines on the same graph. SimGrid runs in a child process, so real time is what tells.
void engine(benchmark::State& state, const std::string& name) {
  simulate_at(state, "scale/ddp-24", name, FoldRanks::no);
}
BENCHMARK_CAPTURE(engine, fluid, "fluid")->RangeMultiplier(2)->Range(8, 256)->UseRealTime();
BENCHMARK_CAPTURE(engine, simgrid, "simgrid")->RangeMultiplier(2)->Range(8, 256)->UseRealTime();

void pod_1024(benchmark::State& state, FoldRanks fold) {
  const auto scenario = bench::load("scale/pod-1024");
  for (auto _ : state) benchmark::DoNotOptimize(simulate(scenario, "fluid", fold).timeline.end.data());
}
BENCHMARK_CAPTURE(pod_1024, all_ranks, FoldRanks::no);
BENCHMARK_CAPTURE(pod_1024, folded, FoldRanks::yes);

/// What a sweep repeats: 8 GPUs, DDP, about 300 gradients. Items are scenarios.
void read_g6e(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(bench::load("article/g6e").job.gpus);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(read_g6e);

/// vit_l_32 from its profile: 1,684 launches, 296 gradients, and a calibration of 25 tables. Items are
/// scenarios.
void read_profile(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(bench::load("h200-4x/vit_l_32").job.gpus);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(read_profile);

void simulate_profile(benchmark::State& state) {
  const auto scenario = bench::load("h200-4x/vit_l_32");
  for (auto _ : state) benchmark::DoNotOptimize(simulate(scenario, "fluid").timeline.end.data());
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(simulate_profile);

void read_and_simulate_g6e(benchmark::State& state, FoldRanks fold) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(simulate(bench::load("article/g6e"), "auto", fold).timeline.end.data());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(read_and_simulate_g6e, all_ranks, FoldRanks::no);
BENCHMARK_CAPTURE(read_and_simulate_g6e, folded, FoldRanks::yes);

/// Reading and building a platform of N GPUs. Items are GPUs.
void read_ddp_24(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(bench::load("scale/ddp-24", state.range(0)).job.gpus);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(read_ddp_24)->RangeMultiplier(4)->Range(16, 16384)->Arg(8);

}  // namespace
