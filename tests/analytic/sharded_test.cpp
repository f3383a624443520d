// SPDX-License-Identifier: Apache-2.0
// Steps of sharded data parallelism whose times can be written down. 4 ranks, six blocks of 100 MB in fp32: a
// gather or a reduction of a block takes 1.5 ms; copies cost nothing on an ideal GPU.
#include <catch2/catch.hpp>

#include "sim/cost/kernel_cost.hpp"
#include "sim/run/simulate.hpp"
#include "tests/support/sharded.hpp"
#include "tests/support/tolerances.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

constexpr double c = 1.5;

Scenario six_blocks(Seconds forward, Seconds backward, Strategy strategy) {
  return sharded_ring(4, blocks_of_layers(6, forward, backward, 25000), std::move(strategy));
}

double step_ms(const Scenario& scenario, const char* engine, FoldRanks fold = FoldRanks::yes) {
  return simulate(scenario, engine, fold).measured.metrics.step_time.value() * 1e3;
}

}  // namespace

TEST_CASE("slow blocks hide all collectives except the first gather and the last reduction", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  CHECK(step_ms(six_blocks(2_ms, 4_ms, Fsdp{}), engine) ==
        Approx(c + 6 * 2 + 6 * 4 + c).epsilon(tolerance::closed_form));
  CHECK(step_ms(six_blocks(2_ms, 4_ms, Fsdp1{.limit_all_gathers = false}), engine) ==
        Approx(c + 6 * 2 + 6 * 4 + c).epsilon(tolerance::closed_form));
}

TEST_CASE("fast blocks wait for the communicator, which is always busy", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  // Each block is gathered twice and reduced once, in one order, one at a time.
  CHECK(step_ms(six_blocks(0.5_ms, 1_ms, Fsdp{}), engine) == Approx(18 * c).epsilon(tolerance::closed_form));
}

TEST_CASE("parameters that are not resharded are gathered once", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  // Six gathers, the last block, then its backward pass and six reductions.
  CHECK(step_ms(six_blocks(0.5_ms, 1_ms, Fsdp{.reshard = Fsdp::kept}), engine) ==
        Approx(6 * c + 0.5 + 1 + 6 * c).epsilon(tolerance::closed_form));
  const Fsdp1 same{.sharding = Fsdp1::Sharding::shard_grad_op, .limit_all_gathers = false};
  CHECK(step_ms(six_blocks(0.5_ms, 1_ms, same), engine) ==
        Approx(6 * c + 0.5 + 1 + 6 * c).epsilon(tolerance::closed_form));
}

TEST_CASE("a single group for the whole model does not overlap", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  CHECK(step_ms(six_blocks(2_ms, 4_ms, Fsdp{.wrap = {0}}), engine) ==
        Approx(6 * c + 6 * 2 + 6 * 4 + 6 * c).epsilon(tolerance::closed_form));
}

TEST_CASE("a forward gather is at most two groups ahead, unless a prefetch is set", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  // Blocks 0 to 4 of next to no parameters take 1 ms each and block 5 is large: 24 ms to gather. Its gather
  // waits until block 3 is copied out, so blocks 3 and 4 hide it; asked for by block 3, until block 2 is.
  auto layers = blocks_of_layers(6, 1_ms, 0_ms, 1);
  layers[5].parameters = {{"weight", {400000, 1000}}};
  const auto step = [&](int ahead) {
    return step_ms(sharded_ring(4, layers, Fsdp{.reshard = Fsdp::kept, .forward_prefetch = ahead}), engine);
  };
  const double rest = 24 + 1 + 24;       // what is left of the gather, block 5, the reduction
  constexpr double small = 6 * 0.00024;  // gathers of a row, padded to four
  CHECK(step(0) == Approx(3 + rest + small).epsilon(tolerance::closed_form));
  CHECK(step(1) == Approx(3 + rest + small).epsilon(tolerance::closed_form));
  CHECK(step(2) == Approx(2 + rest + small).epsilon(tolerance::closed_form));
}

TEST_CASE("micro-steps reduce each, or the last one alone", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  auto scenario = six_blocks(0_ms, 0_ms, Fsdp{.reshard = Fsdp::kept});
  scenario.job.accumulate = 3;
  CHECK(step_ms(scenario, engine) == Approx(3 * 12 * c).epsilon(tolerance::closed_form));
  std::get<Fsdp>(scenario.job.strategy).no_sync = true;
  CHECK(step_ms(scenario, engine) == Approx(3 * 6 * c + 6 * c).epsilon(tolerance::closed_form));
}

TEST_CASE("recomputed blocks repeat their forward pass", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  auto scenario = six_blocks(2_ms, 4_ms, Fsdp{});
  scenario.job.recompute = Recompute::full;
  CHECK(step_ms(scenario, engine) == Approx(c + 6 * 2 + 6 * (2 + 4) + c).epsilon(tolerance::closed_form));
  scenario.job.strategy = Ddp{.bucket_cap = 100_MB};  // reductions of 3 ms hide behind blocks of 6
  CHECK(step_ms(scenario, engine) == Approx(6 * 2 + 6 * (2 + 4) + 3).epsilon(tolerance::closed_form));
}

TEST_CASE("16-bit gradients halve the communicated bytes", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const Fsdp half{.reshard = Fsdp::kept, .param_dtype = Number::bf16, .reduce_dtype = Number::fp32};
  CHECK(step_ms(six_blocks(0_ms, 0_ms, half), engine) ==
        Approx(6 * c / 2 + 6 * c).epsilon(tolerance::closed_form));
}

TEST_CASE("hybrid sharding gathers among fewer ranks and also all-reduces shards between replicas",
          "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  // Two groups of two: gathers and reductions of 1/2 of 100 MB over one link, 1 ms; then each share of 50 MB
  // is all-reduced between the two that hold it, 2 hops apart in the ring: 1 ms and more where they share
  // links.
  const auto scenario = six_blocks(0_ms, 0_ms, Fsdp{.wrap = {0}, .replicate = 2});
  const auto alone = simulate(scenario, engine);
  CHECK(alone.measured.metrics.collectives == 3);
  CHECK(step_ms(scenario, engine) > 2 * 6 * 1.0);
  CHECK(step_ms(scenario, engine, FoldRanks::no) ==
        Approx(step_ms(scenario, engine)).epsilon(tolerance::closed_form));
}

TEST_CASE("ZeRO and Megatron's optimizer overlap as their settings say", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  // Parameters and gradients of fp32: an all-reduce of a block takes 3 ms, a gather of all 9 ms.
  const double backward = 6 * 4;
  const double forward = 6 * 2 + 2 * 0.75 * 4 / 50e6;  // with the all-reduce of the norm, 4 bytes
  const auto step = [&](Strategy strategy) {
    return step_ms(six_blocks(2_ms, 4_ms, std::move(strategy)), engine);
  };
  // A bucket of a block each; after the backward pass, or beside it, but for the last two: a bucket is sent
  // when the next gradient does not fit.
  CHECK(step(Zero{.reduce_bucket_size = 25e6}) ==
        Approx(forward + backward + 6 * 3 + 6 * c).epsilon(tolerance::closed_form));
  CHECK(step(Zero{.stage = 2, .reduce_bucket_size = 25e6, .overlap_comm = true}) ==
        Approx(forward + backward + 2 * 3 + 6 * c).epsilon(tolerance::closed_form));
  // Without bounds none of the six blocks is released: one gather each, one prefetched; one bucket at the
  // end.
  CHECK(step(Zero{.stage = 3, .prefetch_bucket_size = 25e6}) ==
        Approx(c + forward + backward + 6 * c).epsilon(tolerance::closed_form));
  // A bucket of a block each, beside the backward pass but for the last one, or on its stream.
  Zero buckets{.stage = 3, .reduce_bucket_size = 25e6, .prefetch_bucket_size = 25e6};
  CHECK(step(buckets) == Approx(c + forward + backward + c).epsilon(tolerance::closed_form));
  buckets.overlap_comm = false;
  CHECK(step(buckets) == Approx(c + forward + backward + 6 * c).epsilon(tolerance::closed_form));
  CHECK(step(DistributedOptimizer{}) ==
        Approx(forward + backward + 6 * c + 6 * c).epsilon(tolerance::closed_form));
  const DistributedOptimizer overlapped{
      .overlap_grad_reduce = true, .overlap_param_gather = true, .bucket_size = 25e6};
  CHECK(step(overlapped) == Approx(c + forward + backward + c).epsilon(tolerance::closed_form));
}

TEST_CASE("ZeRO-3 waits for the gathers of recomputed blocks", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const double norm = 2 * 0.75 * 4 / 50e6;
  // Nothing is prefetched, and all blocks except the last one are released. A gather begins when the CPU
  // reaches it, so that kernels hide all but the first; nothing hides the single bucket.
  const Zero zero{.stage = 3, .max_live_parameters = 1, .max_reuse_distance = 1};
  auto scenario = six_blocks(0_ms, 0_ms, zero);
  scenario.job.recompute = Recompute::full;
  CHECK(step_ms(scenario, engine) == Approx((6 + 5) * c + norm + 6 * c).epsilon(tolerance::closed_form));
  scenario = six_blocks(2_ms, 4_ms, zero);
  scenario.job.recompute = Recompute::full;
  CHECK(step_ms(scenario, engine) ==
        Approx(c + 6 * (2 + 2 + 4) + norm + 6 * c).epsilon(tolerance::closed_form));
}

TEST_CASE("owners of whole tensors broadcast them one after the other", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const double passes = 6 * 2 + 6 * 4 + 2 * 0.75 * 4 / 50e6;  // with the all-reduce of the norm, 4 bytes
  const double all_reduces = 6 * 3;
  const double broadcasts = 6 * 2;  // of 100 MB each at 50 GB/s, whoever owns them
  const auto step = [&](int owners) {
    return step_ms(six_blocks(2_ms, 4_ms, DistributedOptimizer{.tensor_owners = owners}), engine);
  };
  CHECK(step(4) == Approx(passes + all_reduces + broadcasts).epsilon(tolerance::closed_form));
  CHECK(step(2) == Approx(passes + all_reduces + broadcasts).epsilon(tolerance::closed_form));
  CHECK(step(1) == Approx(passes + all_reduces).epsilon(tolerance::closed_form));
}

TEST_CASE("nothing overlaps where the CPU waits for the end of each launch", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const auto strategy = GENERATE(values<Strategy>(
      {DistributedOptimizer{.overlap_grad_reduce = true, .bucket_size = 25e6}, Fsdp{.reshard = Fsdp::kept}}));
  auto scenario = six_blocks(2_ms, 4_ms, strategy);
  scenario.job.launch_blocking = true;
  const double norm = std::holds_alternative<Fsdp>(strategy) ? 0 : 2 * 0.75 * 4 / 50e6;
  CHECK(step_ms(scenario, engine) ==
        Approx(6 * 2 + 6 * 4 + norm + 6 * c + 6 * c).epsilon(tolerance::closed_form));
}

TEST_CASE("clipping adds one all-reduce of a number if ranks hold shards of the gradients", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const auto longer_ms = [&](Strategy strategy) {
    auto scenario = six_blocks(2_ms, 4_ms, std::move(strategy));
    scenario.platform = ring_platform(4, 50_GBps, 1_ms);
    const auto without = step_ms(scenario, engine);
    scenario.job.clip_grad_norm = true;
    return step_ms(scenario, engine) - without;
  };
  const auto hops = [](int ranks) { return 2.0 * (ranks - 1); };  // of 1 ms each; 4 bytes take none
  CHECK(longer_ms(Fsdp{}) == Approx(hops(4)).epsilon(1e-6));
  CHECK(longer_ms(Fsdp1{}) == Approx(hops(4)).epsilon(1e-6));
  CHECK(longer_ms(Fsdp{.replicate = 2}) == Approx(hops(2)).epsilon(1e-6));
  CHECK(longer_ms(Fsdp1{.replicate = 2}) == Approx(hops(2)).epsilon(1e-6));
  // DDP's gradients are whole; ZeRO and Megatron compute the norm with and without.
  CHECK(longer_ms(Ddp{}) == Approx(0).margin(1e-9));
  CHECK(longer_ms(Zero{.stage = GENERATE(1, 2, 3)}) == Approx(0).margin(1e-9));
  CHECK(longer_ms(DistributedOptimizer{}) == Approx(0).margin(1e-9));
}

TEST_CASE("the CPU steps offloaded shards after the last reduction", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  auto scenario = six_blocks(2_ms, 4_ms, Fsdp{.cpu_offload = true});
  scenario.job.optimizer = GENERATE(Optimizer::sgd, Optimizer::adamw);
  // A quarter of 150 million elements at 28 bytes times 537 million in 1.8 s; copies cost nothing here.
  const auto traffic = cost_of(scenario.job.optimizer).traffic.value();
  const auto host_ms = 37.5e6 * traffic / (28 * 537e6 / 1.8) * 1e3;
  CHECK(step_ms(scenario, engine) == Approx(c + 6 * 2 + 6 * 4 + c + host_ms).epsilon(tolerance::closed_form));
  scenario.job.clip_grad_norm = true;
  CHECK(step_ms(scenario, engine) ==
        Approx(c + 6 * 2 + 6 * 4 + c + host_ms * (1 + 12 / traffic)).epsilon(tolerance::closed_form));
  scenario.platform.speeds[HardwarePart::cpu] = 2;
  CHECK(step_ms(scenario, engine) ==
        Approx(c + 6 * 2 + 6 * 4 + c + host_ms * (1 + 12 / traffic) / 2).epsilon(tolerance::closed_form));
}

TEST_CASE("the CPU instead of the GPU steps states that ZeRO offloads", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const auto stage = GENERATE(1, 2, 3);
  const auto optimizer = GENERATE(Optimizer::sgd, Optimizer::adamw);
  const auto step = [&](bool offloads) {
    auto scenario = six_blocks(2_ms, 4_ms, Zero{.stage = stage, .offload_optimizer = offloads});
    scenario.job.optimizer = optimizer;
    return step_ms(scenario, engine);
  };
  // A quarter of 150 million elements at 28 bytes times 11.6 billion in 8.2 s; copies cost nothing here.
  const auto host_ms = 37.5e6 * cost_of(optimizer).traffic.value() / (28 * 11.6e9 / 8.2) * 1e3;
  CHECK(step(true) == Approx(step(false) + host_ms).epsilon(tolerance::closed_form));
}

namespace {

/// Stages of two blocks of 1 ms forward and 2 ms backward, each sharded over two ranks: a gather or a
/// reduction of a block takes a quarter of a millisecond.
Scenario sharded_pipeline(int stages, int chunks, int micro_batches) {
  constexpr double link = 300e9;  // bytes a second, of nvswitch_node
  auto scenario = sharded_ring(2, blocks_of_layers(2 * stages, 1_ms, 2_ms, 37500), Fsdp{});
  REQUIRE(37500 * 1000 * 4.0 / 2 / link == 0.25e-3);
  scenario.platform = built_platform(nvswitch_node(2 * stages));
  scenario.platform.collectives = CollectiveRules::ideal;
  scenario.platform.gpu_models.front().ideal = true;
  scenario.job.gpus = 2 * stages;
  scenario.job.accumulate = micro_batches;
  scenario.job.layout.pipeline = stages;
  scenario.job.layout.chunks = chunks;
  scenario.job.layout.schedule = chunks > 1 ? Schedule::interleaved : Schedule::one_f_one_b;
  return scenario;
}

}  // namespace

TEST_CASE("stages gather once and reduce after the last backward pass of a chunk", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const int p = GENERATE(2, 4);
  const int m = p * GENERATE(1, 2);
  const int v = GENERATE(1, 2);
  CAPTURE(engine, p, m, v);
  // The first gather, the pipeline, and the reductions of the chunk that ends last.
  const double at_the_ends = 0.25 + 0.25 * 2 / v;
  // PyTorch receives in one order: see pipeline_test.cpp, whose passes are half as long.
  const double waits = p == 4 && v == 2 ? 2 * (35 - 28.5) : 0;
  CHECK(step_ms(sharded_pipeline(p, v, m), engine) ==
        Approx(at_the_ends + m * 6 + (p - 1) * 6.0 / v + waits).epsilon(tolerance::closed_form));
}

TEST_CASE("passes that make only gradients of parameters count for a stage's reductions", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  auto scenario = sharded_pipeline(2, 1, 4);
  scenario.job.layout.schedule = Schedule::zb_h1;
  // F = 2, I = W = 2 ms a stage.
  CHECK(step_ms(scenario, engine) == Approx(0.25 + 4 * 6 + 1 * 2 + 2 * 0.25).epsilon(tolerance::closed_form));
}

TEST_CASE("folded stages under FSDP are those of all ranks", "[analytic]") {
  const auto scenario = sharded_pipeline(2, 2, 4);
  CHECK(step_ms(scenario, "fluid", FoldRanks::yes) ==
        Approx(step_ms(scenario, "fluid", FoldRanks::no)).epsilon(1e-9));
}
