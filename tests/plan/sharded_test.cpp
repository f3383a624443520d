// SPDX-License-Identifier: Apache-2.0
// Sharded strategies issue their collectives in the order of one communicator.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "sim/plan/plan.hpp"
#include "tests/support/sharded.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

/// Three blocks, and an embedding and a head in the root group.
Scenario three_blocks(Strategy strategy, int gpus = 2) {
  auto layers = blocks_of_layers(3, 1_ms, 2_ms, 10);
  for (const auto* name : {"wte", "head"}) {
    auto layer = layers.front();
    layer.name = name;
    layers.insert(name == std::string{"wte"} ? layers.begin() : layers.end(), layer);
  }
  return sharded_ring(gpus, std::move(layers), std::move(strategy));
}

std::vector<std::string> collectives_of(const Scenario& scenario) {
  const auto workload = plan(scenario, compute_costs(scenario));
  std::vector<std::string> names;
  for (const auto& task : workload.first_program().tasks)
    if (std::holds_alternative<Call>(task.work)) names.push_back(task.name);
  return names;
}

}  // namespace

// As our trace of two H100 shows it (2026-11-22, PyTorch 2.11, reshard_after_forward=True for all groups):
// the root first, then blocks; back again the root, and each block's gather before the reduction of the one
// after.
TEST_CASE("FSDP2 reduces a group after the next group's gather") {
  CHECK(collectives_of(three_blocks(Fsdp{.reshard = Fsdp::over_all})) ==
        std::vector<std::string>{"root all-gather", "block 0 all-gather", "block 1 all-gather",
                                 "block 2 all-gather", "root all-gather", "block 2 all-gather",
                                 "block 1 all-gather", "block 2 reduce-scatter", "block 0 all-gather",
                                 "block 1 reduce-scatter", "block 0 reduce-scatter", "root reduce-scatter"});
}

TEST_CASE("FSDP2 keeps the root group gathered, and all groups that the scenario keeps") {
  auto gathers = [](std::optional<int> reshard) {
    const auto names = collectives_of(three_blocks(Fsdp{.reshard = reshard}));
    return std::ranges::count_if(names, [](const auto& name) { return name.ends_with("all-gather"); });
  };
  CHECK(gathers({}) == 4 + 3);
  CHECK(gathers(Fsdp::over_all) == 4 + 4);
  CHECK(gathers(Fsdp::kept) == 4);
}

TEST_CASE("prefetch gathers groups before the kernels of the current group are issued") {
  const auto first_of = [](const Scenario& scenario, std::string_view name) {
    const auto workload = plan(scenario, compute_costs(scenario));
    const auto& tasks = workload.first_program().tasks;
    return std::ranges::find(tasks, name, &Task::name) - tasks.begin();
  };
  const auto lead = [&](int ahead) {
    const auto scenario = three_blocks(Fsdp{.forward_prefetch = ahead});
    return first_of(scenario, "block 2 all-gather") < first_of(scenario, "h.1.mlp");
  };
  CHECK_FALSE(lead(0));
  CHECK(lead(1));
  const auto scenario = three_blocks(Fsdp{.forward_prefetch = 2});
  CHECK(first_of(scenario, "block 2 all-gather") < first_of(scenario, "h.0.mlp"));
}

// @source torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py, PyTorch 2.11 (unshard, wait_for_unshard)
TEST_CASE("FSDP2 over one rank copies each parameter and exchanges nothing") {
  const auto scenario = three_blocks(Fsdp{.reshard = Fsdp::over_all}, 1);
  CHECK(collectives_of(scenario).empty());
  const auto workload = plan(scenario, compute_costs(scenario));
  int copied = 0;
  for (const auto& task : workload.first_program().tasks) {
    CHECK_FALSE(task.name.ends_with("copy-in"));
    if (task.name.ends_with("copy-out")) copied += task.launches;
  }
  CHECK(copied == 5 + 5);  // forward and backward
}

TEST_CASE("blocks are wrapped in groups, the last of which may be smaller") {
  CHECK(collectives_of(three_blocks(Fsdp{.wrap = {2}, .reshard = Fsdp::kept})) ==
        std::vector<std::string>{"root all-gather", "blocks 0 to 1 all-gather", "block 2 all-gather",
                                 "block 2 reduce-scatter", "blocks 0 to 1 reduce-scatter",
                                 "root reduce-scatter"});
}

TEST_CASE("each rank's share of a parameter is cut by its first dimension and padded") {
  // 10 rows over 4 ranks: 3 each, so 12 are gathered.
  const auto scenario = three_blocks(Fsdp{}, 4);
  const auto workload = plan(scenario, compute_costs(scenario));
  for (const auto& task : workload.first_program().tasks) {
    if (task.name == "block 1 all-gather") CHECK(bytes_of(task.work) == Bytes{4.0 * 12 * 1000});
  }
  // A flat parameter is padded once: 10,000 numbers are even.
  const auto flat = three_blocks(Fsdp1{}, 4);
  const auto of_flat = plan(flat, compute_costs(flat));
  for (const auto& task : of_flat.first_program().tasks) {
    if (task.name == "block 1 all-gather") CHECK(bytes_of(task.work) == Bytes{4.0 * 10000});
  }
}

TEST_CASE("FSDP1 gathers a group before or after the gradients of the next group, or when it is needed") {
  const auto backward = [](Fsdp1::Prefetch prefetch) {
    auto names = collectives_of(three_blocks(Fsdp1{.backward_prefetch = prefetch}));
    return std::vector<std::string>(names.begin() + 4, names.end());
  };
  using enum Fsdp1::Prefetch;
  CHECK(backward(pre) == std::vector<std::string>{"block 2 all-gather", "block 1 all-gather",
                                                  "block 2 reduce-scatter", "block 0 all-gather",
                                                  "block 1 reduce-scatter", "block 0 reduce-scatter",
                                                  "root reduce-scatter"});
  CHECK(backward(post) == std::vector<std::string>{"block 2 all-gather", "block 1 all-gather",
                                                   "block 2 reduce-scatter", "block 0 all-gather",
                                                   "block 1 reduce-scatter", "block 0 reduce-scatter",
                                                   "root reduce-scatter"});
  CHECK(backward(none) == std::vector<std::string>{"block 2 all-gather", "block 2 reduce-scatter",
                                                   "block 1 all-gather", "block 1 reduce-scatter",
                                                   "block 0 all-gather", "block 0 reduce-scatter",
                                                   "root reduce-scatter"});
}

TEST_CASE("replicas form groups across the sharding groups") {
  const auto scenario = three_blocks(Fsdp{.replicate = 2}, 4);
  const auto workload = plan(scenario, compute_costs(scenario));
  REQUIRE(workload.groups.size() == 4);
  const auto members = [&](std::size_t group) {
    std::vector<std::size_t> ranks;
    for (const auto actor : workload.groups[group].members) ranks.push_back(actor.index());
    return ranks;
  };
  CHECK(workload.groups[0].name == "shards 0");
  CHECK(members(0) == std::vector<std::size_t>{0, 1});
  CHECK(members(1) == std::vector<std::size_t>{2, 3});
  CHECK(members(2) == std::vector<std::size_t>{0, 2});
  CHECK(members(3) == std::vector<std::size_t>{1, 3});
  check(workload);
}

TEST_CASE("ZeroRedundancyOptimizer broadcasts each parameter, or each rank's parameters together") {
  const auto sent = [](bool views) {
    Ddp ddp{.bucket_cap = 1_GB, .zero_redundancy = true, .parameters_as_bucket_view = views};
    const auto names = collectives_of(three_blocks(ddp));
    return std::ranges::count(names, "parameters broadcast");
  };
  CHECK(sent(false) == 5);
  CHECK(sent(true) == 2);
}

TEST_CASE("ZeRO-3 gathers parameters before use and keeps those that are reused soon or small") {
  const auto gathers = [](Zero zero) {
    zero.stage = 3;
    zero.prefetch_bucket_size = 1;
    zero.param_persistence_threshold = 5000;
    const auto names = collectives_of(three_blocks(zero));
    return std::ranges::count_if(names, [](const auto& name) { return name.ends_with("all-gather"); });
  };
  CHECK(gathers({}) == 5);                             // all is near its end
  CHECK(gathers({.max_reuse_distance = 1}) == 5 + 4);  // the last is used again at once
  CHECK(gathers({.max_reuse_distance = 4e4}) == 5 + 3);
  CHECK(gathers({.max_reuse_distance = 4e4 + 1}) == 5 + 2);
}

TEST_CASE("ZeRO-3 gathers for recomputation and again for the backward pass") {
  Zero zero{.stage = 3, .max_reuse_distance = 1, .param_persistence_threshold = 5000};
  auto scenario = three_blocks(zero);
  auto& layers = scenario.model.layers;
  for (std::size_t i = 1; i + 1 < layers.size(); i += 2) {
    auto second = layers[i];
    second.name += ".second";
    layers.insert(layers.begin() + static_cast<std::ptrdiff_t>(i) + 1, second);
  }
  const auto gathers = [&] {
    const auto names = collectives_of(scenario);
    return std::ranges::count_if(names, [](const auto& name) { return name.ends_with("all-gather"); });
  };
  CHECK(gathers() == 8 + 7);  // the last is used again at once
  scenario.job.recompute = Recompute::full;
  CHECK(gathers() == 8 + 3 * 3 + 1);  // and so is the last of each block
}

// Of the parts of 10,000 elements, three are released after the forward pass, and two are used again at once.
TEST_CASE("ZeRO++ gathers in int8, in the backward pass from the second copy of fewer ranks") {
  const Zero zero{.stage = 3,
                  .max_reuse_distance = 1,
                  .param_persistence_threshold = 5000,
                  .zero_hpz_partition_size = 2,
                  .zero_quantized_weights = true};
  auto scenario = three_blocks(zero, 4);
  scenario.job.precision = Precision::fp16;
  const auto workload = plan(scenario, compute_costs(scenario));
  std::array<std::vector<double>, 2> gathered;  // over all ranks, over those of a second copy
  for (const auto& task : workload.first_program().tasks)
    if (const auto* call = std::get_if<Call>(&task.work); call && call->kind == CollectiveKind::all_gather)
      gathered.at(call->group.index).push_back(call->bytes.value());
  const auto sizes = [](int parts) {
    std::vector<double> bytes;
    for (int i = 0; i < parts; ++i) bytes.insert(bytes.end(), {10000, 4 * 10000 / 8000.0});
    return bytes;
  };
  CHECK(gathered[0] == sizes(5));
  CHECK(gathered[1] == sizes(4));
  CHECK(workload.groups[1].members.size() == 2);
  check(workload);

  const auto parameters = [&](int ranks) {
    std::get<Zero>(scenario.job.strategy).zero_hpz_partition_size = ranks;
    return plan(scenario, compute_costs(scenario)).first_program().memory.parameters.value();
  };
  CHECK(parameters(2) - parameters(1) == 2 * 50000 / 2.0);
}

// All parts have fewer elements than are gathered ahead.
TEST_CASE("Megatron-FSDP gathers in place, far ahead, and reduces each micro-batch") {
  auto scenario = three_blocks(Fsdp{.param_dtype = Number::bf16, .megatron_fsdp = true});
  scenario.job.precision = Precision::bf16;
  scenario.job.accumulate = 2;
  scenario.job.optimizer = Optimizer::adamw;
  const std::vector<std::string> forward{"block 0 all-gather", "block 1 all-gather", "block 2 all-gather"};
  const std::vector<std::string> backward{
      "block 2 all-gather",     "block 1 all-gather",     "block 0 all-gather", "block 2 reduce-scatter",
      "block 1 reduce-scatter", "block 0 reduce-scatter", "root reduce-scatter"};
  std::vector<std::string> expected{"root all-gather"};
  for (int micro_batch = 0; micro_batch < 2; ++micro_batch)
    for (const auto& names : {forward, backward}) expected.insert(expected.end(), names.begin(), names.end());
  CHECK(collectives_of(scenario) == expected);

  // Shards in fp32 and bf16, gradients in bf16, two moments in fp32.
  const double elements = 5 * 10000;
  const auto workload = plan(scenario, compute_costs(scenario));
  check(workload);
  const auto& program = workload.first_program();
  CHECK(program.memory.parameters == Bytes{(4 + 2) * elements / 2});
  CHECK(program.memory.buckets == Bytes{2 * elements / 2});
  CHECK(program.memory.optimizer_state >= Bytes{2 * 4 * elements / 2});
  const auto cast = std::ranges::find(program.tasks, "shards cast", &Task::name);
  REQUIRE(cast != program.tasks.end());
  CHECK(cast->launches == 4);
  CHECK(
      std::ranges::none_of(program.tasks, [](const Task& task) { return task.name.ends_with("copy-out"); }));

  // ZeRO-2: the parameters stay whole, and are gathered once.
  std::get<Fsdp>(scenario.job.strategy).reshard = Fsdp::kept;
  const auto names = collectives_of(scenario);
  CHECK(std::ranges::count_if(names, [](const auto& name) { return name.ends_with("all-gather"); }) == 4);
  const auto kept = plan(scenario, compute_costs(scenario)).first_program().memory;
  CHECK(kept.parameters == Bytes{4 * elements / 2});
  CHECK(kept.gathered == Bytes{2 * elements});
}

TEST_CASE("ZeRO-3 prefetches parts until the prefetch bucket is full") {
  const auto asked = [](double bucket, double live) {
    const Zero zero{.stage = 3,
                    .prefetch_bucket_size = bucket,
                    .max_live_parameters = live,
                    .param_persistence_threshold = 5000};
    const auto scenario = three_blocks(zero);
    const auto workload = plan(scenario, compute_costs(scenario));
    const auto& tasks = workload.first_program().tasks;
    const auto first = std::ranges::find_if(tasks, [](const Task& task) {
      return std::holds_alternative<Kernel>(task.work) && task.phase == Phase::forward;
    });
    return std::count_if(tasks.begin(), first,
                         [](const Task& task) { return task.name.ends_with("all-gather"); });
  };
  CHECK(asked(1, 1e9) == 1 + 1);
  CHECK(asked(10000, 1e9) == 1 + 1);
  CHECK(asked(10001, 1e9) == 1 + 2);
  CHECK(asked(1e9, 10000) == 1);
  CHECK(asked(1e9, 10001) == 1 + 1);
}

TEST_CASE("Megatron's buckets close when they are full, and without overlap there is one bucket") {
  const auto reductions = [](DistributedOptimizer optimizer) {
    const auto names = collectives_of(three_blocks(optimizer));
    return std::ranges::count_if(names, [](const auto& name) { return name.ends_with("reduce-scatter"); });
  };
  CHECK(reductions({}) == 1);
  CHECK(reductions({.overlap_grad_reduce = true}) == 1);
  CHECK(reductions({.overlap_grad_reduce = true, .bucket_size = 10000}) == 5);
  CHECK(reductions({.overlap_grad_reduce = true, .bucket_size = 15000}) == 3);
}

TEST_CASE("ranks keep the parameters and states that their strategy assigns to them") {
  // 50,000 parameters on 4 ranks in bf16 with AdamW: 2 bytes for compute, 4 for the master, 8 for two
  // moments.
  const auto kept = [](Strategy strategy) {
    auto scenario = three_blocks(std::move(strategy), 4);
    scenario.job.precision = Precision::bf16;
    scenario.job.optimizer = Optimizer::adamw_fused;
    const auto memory = plan(scenario, compute_costs(scenario)).first_program().memory;
    return std::pair{memory.parameters.value(), memory.optimizer_state.value()};
  };
  using Kept = std::pair<double, double>;
  const double p = 50000;
  CHECK(kept(Ddp{}) == Kept{4 * p, 8 * p});
  CHECK(kept(Fsdp{}) == Kept{4 * 60000 / 4.0, 8 * p / 4});  // 10 rows are padded to 12
  CHECK(kept(Fsdp1{}) == Kept{4 * p / 4, 8 * p / 4});
  CHECK(kept(Zero{.stage = 2}) == Kept{2 * p + 4 * p / 4, 8 * p / 4});
  CHECK(kept(Zero{.stage = 3}) == Kept{(2 + 4) * p / 4, 8 * p / 4});
  CHECK(kept(DistributedOptimizer{}) == Kept{2 * p + 4 * p / 4, 8 * p / 4});
}

TEST_CASE("clipping reads a rank's own gradients, then reads and writes them") {
  using Row = std::pair<Strategy, double>;  // and the part of all gradients that the busiest rank steps
  const auto [strategy, share] = GENERATE(values<Row>({{Ddp{}, 1},
                                                       {Fsdp{}, 1 / 4.0},
                                                       {Fsdp{.replicate = 2}, 1 / 2.0},
                                                       {Fsdp1{}, 1 / 4.0},
                                                       {Zero{.stage = 1}, 1 / 4.0},
                                                       {Zero{.stage = 3}, 1 / 4.0},
                                                       {DistributedOptimizer{}, 1 / 4.0},
                                                       {DistributedOptimizer{.shards = false}, 1},
                                                       // of five tensors, whole
                                                       {DistributedOptimizer{.tensor_owners = 2}, 3 / 5.0}}));
  auto scenario = three_blocks(strategy, 4);
  for (auto& layer : scenario.model.layers) layer.parameters = {{"weight", {40000, 1000}}};
  auto& gpu = scenario.platform.gpu_models.front();
  gpu.ideal = false;
  gpu.memory_bandwidth = 1000_GBps;
  scenario.job.clip_grad_norm = true;
  const auto own = share * Bytes{5 * 4 * 40e6};
  const bool has_norm =
      std::holds_alternative<Zero>(strategy) || std::holds_alternative<DistributedOptimizer>(strategy);
  const auto workload = plan(scenario, compute_costs(scenario));
  const auto& tasks = workload.first_program().tasks;
  const auto check_pass = [&](const char* name, Bytes traffic) {
    const auto task = std::ranges::find(tasks, name, &Task::name);
    REQUIRE(task != tasks.end());
    CHECK(std::get<Kernel>(task->work).work ==
          memory_time(traffic, gpu, MemoryPattern::stream, task->launches));
    CHECK(task->phase == Phase::optimizer);
  };
  check_pass("gradients clipped", 2 * own);
  if (!has_norm) check_pass("norms of gradients", own);
  const auto norms = std::ranges::count_if(tasks, [](const Task& task) {
    return task.name == "norms of gradients" || task.name == "norm of gradients";
  });
  CHECK(norms == 1);
}

TEST_CASE("offload copies each shard in before its gather and out after its reduction") {
  const auto scenario = three_blocks(Fsdp{.cpu_offload = true}, 4);
  const auto workload = plan(scenario, compute_costs(scenario));
  const auto& tasks = workload.first_program().tasks;
  int gathers = 0;
  int reductions = 0;
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto* call = std::get_if<Call>(&tasks[i].work);
    if (call == nullptr) continue;
    const bool is_gather = call->kind == CollectiveKind::all_gather;
    const auto at =
        is_gather ? i - 2 : i + 1;  // the copy in, the casts, the gather; the reduction, the copy out
    const auto& copy = std::get<Copy>(tasks[at].work);
    CHECK(copy.bytes == call->bytes / 4);  // padded alike
    CHECK(copy.to == (is_gather ? Place::gpu : Place::host));
    CHECK(copy.pinned);
    ++(is_gather ? gathers : reductions);
    if (!is_gather) {
      CHECK(tasks[at].after == std::vector{TaskId{i}});
      if (!out.empty()) CHECK(std::ranges::find(tasks[i].after, TaskId{out.back()}) != tasks[i].after.end());
      out.push_back(at);
    }
  }
  CHECK(gathers == 4 + 3);
  CHECK(reductions == 4);
  const auto ends = std::ranges::find(tasks, "reductions are done", &Task::name);
  REQUIRE(ends != tasks.end());
  CHECK(ends->host_waits);
  for (const auto at : out) CHECK(std::ranges::find(ends->after, TaskId{at}) != ends->after.end());
  CHECK(std::ranges::find(tasks, "optimizer", &Task::name) == tasks.end());
}

TEST_CASE("offloaded shards, gradients and states use no GPU memory") {
  auto scenario = three_blocks(Fsdp{}, 4);
  for (auto& layer : scenario.model.layers) layer.parameters = {{"weight", {40000, 1000}}};
  scenario.job.optimizer = Optimizer::adamw;
  const auto memory = [&] { return plan(scenario, compute_costs(scenario)).first_program().memory; };
  const Bytes share{5 * 4 * 40e6 / 4};
  const auto before = memory();
  CHECK(before.parameters == share);
  CHECK(before.optimizer_state >= 2 * share);
  std::get<Fsdp>(scenario.job.strategy).cpu_offload = true;
  const auto after = memory();
  CHECK(after.parameters == 0_B);
  CHECK(after.optimizer_state == 0_B);
  CHECK(after.allocated() <= before.allocated() - 3 * share);
}
