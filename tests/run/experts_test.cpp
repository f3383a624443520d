// SPDX-License-Identifier: Apache-2.0
// Ranks that share experts: their groups, what they send, hold and add up.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/engine/engine.hpp"
#include "sim/lower/communicators.hpp"
#include "sim/lower/lower.hpp"
#include "sim/plan/plan.hpp"
#include "sim/run/simulate.hpp"
#include "sim/scenario/value_text.hpp"

using namespace gradway;

namespace {

const DataPath shipped{{GRADWAY_SOURCE_DIR}};

/// Mixtral 8x7B on H100s, in bf16, one sample of 2048 tokens.
Scenario mixtral(std::vector<Override> more) {
  std::vector<Override> set{{"model", "mixtral_8x7b"},  {"platform", "dgx-h100"}, {"job.precision", "bf16"},
                            {"job.batch_per_gpu", "1"}, {"job.sequence", "2048"}, {"job.recompute", "none"},
                            {"optimizer", "adamw"}};
  set.insert(set.end(), more.begin(), more.end());
  return load_scenario("sharded/llama2_7b", set, shipped);
}

Workload checked_plan(const Scenario& scenario) {
  auto workload = plan(scenario, compute_costs(scenario));
  check(workload);
  return workload;
}

std::set<std::vector<std::size_t>> members_of(const Workload& workload, Purpose purpose,
                                              const std::string& name = "") {
  std::set<std::vector<std::size_t>> groups;
  for (const auto& group : workload.groups) {
    if (group.purpose != purpose || !group.name.starts_with(name)) continue;
    std::vector<std::size_t> members;
    for (const auto member : group.members) members.push_back(member.index());
    groups.insert(members);
  }
  return groups;
}

/// Sizes of rank 0's calls of a kind in groups whose names begin so, each in MB, with their number.
std::map<double, int> sizes_of(const Workload& workload, CollectiveKind kind, const std::string& group) {
  std::map<double, int> sizes;
  const auto& actor = workload.actors.front();
  for (const auto& task : workload.first_program().tasks) {
    const auto* call = std::get_if<Call>(&task.work);
    if (!call || call->kind != kind) continue;
    if (workload.groups[actor.groups[call->group.index].index()].name.starts_with(group))
      ++sizes[call->bytes.value() / 1e6];
  }
  return sizes;
}

constexpr int blocks = 32;
constexpr double expert = 3 * 4096.0 * 14336;  // parameters of one in one layer
const std::vector<Override> megatron{
    {"job.gpus", "16"},        {"job.framework", "megatron"},
    {"parallel.tensor", "2"},  {"parallel.sequence", "true"},
    {"parallel.context", "2"}, {"parallel.pipeline", "2"},
    {"parallel.expert", "4"},  {"strategy", "{kind: distributed_optimizer}"}};

}  // namespace

// Workspaces of cuBLAS: two of PyTorch; Transformer Engine's own, and one per stream of grouped experts.
TEST_CASE("Transformer Engine has its own workspaces for linear layers and grouped experts", "[memory]") {
  using Row = std::pair<std::vector<Override>, Bytes>;
  const auto [set, bytes] = GENERATE(values<Row>({
      {{}, 2 * 32_MiB},
      {{{"job.framework", "megatron"}}, (2 + 1 + 4) * 32_MiB},
      {{{"job.framework", "megatron"}, {"model", "llama2_7b"}}, (2 + 1) * 32_MiB},
      {{{"job.framework", "megatron"}, {"model", "llama2_7b"}, {"platform", "dgx-a100"}},
       2 * 8320_KiB + 4_MiB},
  }));
  CHECK(checked_plan(mixtral(set)).first_program().memory.workspace == bytes);
}

// The example of Megatron-Core's parallel_state.py: 16 ranks, two grids.
TEST_CASE("experts have a grid of their own over the same ranks", "[layout][experts]") {
  const auto workload = checked_plan(mixtral(megatron));
  using Ranks = std::set<std::vector<std::size_t>>;
  CHECK(members_of(workload, Purpose::tensor).contains({0, 1}));
  CHECK(members_of(workload, Purpose::context) ==
        Ranks{{0, 2}, {1, 3}, {4, 6}, {5, 7}, {8, 10}, {9, 11}, {12, 14}, {13, 15}});
  CHECK(members_of(workload, Purpose::data, "all ranks") ==
        Ranks{{0, 2, 4, 6}, {1, 3, 5, 7}, {8, 10, 12, 14}, {9, 11, 13, 15}});
  CHECK(members_of(workload, Purpose::expert) ==
        Ranks{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}});
  CHECK(members_of(workload, Purpose::data, "experts, ") ==
        Ranks{{0, 4}, {1, 5}, {2, 6}, {3, 7}, {8, 12}, {9, 13}, {10, 14}, {11, 15}});
  CHECK(members_of(workload, Purpose::pipeline).contains({0, 8}));
}

TEST_CASE("Megatron's dispatcher sends counts, rows and shares, and rows back", "[layout][experts]") {
  const auto scenario = mixtral({{"job.gpus", "8"},
                                 {"job.framework", "megatron"},
                                 {"parallel.expert", "4"},
                                 {"strategy", "{kind: distributed_optimizer}"}});
  const auto workload = checked_plan(scenario);
  const double rows = 2048 * 2 * 4096 * 2 / 1e6;
  CHECK(sizes_of(workload, CollectiveKind::all_to_all, "expert parallel") ==
        std::map<double, int>{{2048 * 2 * 4 / 1e6, 2 * blocks}, {rows, 4 * blocks}});
  CHECK(sizes_of(workload, CollectiveKind::all_gather, "expert parallel") ==
        std::map<double, int>{{8 * 8 * 4 / 1e6, blocks}});
  // The CPU waits for the counts of each layer.
  const auto waits = std::ranges::count_if(workload.first_program().tasks, [](const Task& task) {
    return task.host_waits && std::holds_alternative<Call>(task.work);
  });
  CHECK(waits == blocks);
}

/// Calls of rank 0 for which the CPU waits.
std::ptrdiff_t waits_of_cpu(const Workload& workload) {
  return std::ranges::count_if(workload.first_program().tasks, [](const Task& task) {
    return task.host_waits && std::holds_alternative<Call>(task.work);
  });
}

// DeepEP's README: a token goes once to each rank of its experts, forward in fp8, back in bf16. Its shares go
// with it. In `dispatch` the CPU waits for the number of tokens that arrive (csrc/legacy/buffer.hpp).
TEST_CASE("DeepEP sends a token once per rank and waits for counts", "[layout][experts]") {
  const auto workload = checked_plan(mixtral({{"job.gpus", "8"},
                                              {"job.framework", "megatron"},
                                              {"parallel.expert", "4"},
                                              {"parallel.expert_dispatch", "deepep"},
                                              {"parallel.fp8_dispatch", "true"},
                                              {"strategy", "{kind: distributed_optimizer}"}}));
  const double tokens = 2048 * 4 * (1 - 0.75 * 0.75);  // ranks that have at least one of two experts
  const auto sizes = sizes_of(workload, CollectiveKind::all_to_all, "expert parallel");
  const auto calls_of = [&](double bytes) {
    int calls = 0;
    for (const auto& [megabytes, count] : sizes)
      if (megabytes == Approx(tokens * 4096 * bytes / 1e6)) calls += count;
    return calls;
  };
  CHECK(calls_of(1) == 2 * blocks);  // rows there, and gradients of what came back
  CHECK(calls_of(2) == 2 * blocks);
  CHECK(calls_of(1) + calls_of(2) == [&] {
    int calls = 0;
    for (const auto& [megabytes, count] : sizes) calls += count;
    return calls;
  }());
  CHECK(waits_of_cpu(workload) == blocks);
}

TEST_CASE("DeepEP sends a token once per node between nodes", "[layout][experts]") {
  const auto workload = checked_plan(load_scenario("published/megatron-bridge-moe-base",
                                                   {{"platform", "dgx-h100"},
                                                    {"job.gpus", "16"},
                                                    {"job.batch_per_gpu", "1"},
                                                    {"job.accumulate", "1"},
                                                    {"parallel.expert", "16"},
                                                    {"parallel.expert_dispatch", "deepep"}},
                                                   shipped));
  const double tokens = 4096 * 2 * (1 - std::pow(0.5, 8));  // nodes that have at least one of eight experts
  const auto sizes = sizes_of(workload, CollectiveKind::all_to_all, "expert parallel");
  REQUIRE(sizes.size() == 1);
  CHECK(sizes.begin()->first == Approx(tokens * 2048 * 2 / 1e6));
  CHECK(sizes.begin()->second == 4 * 48);
}

TEST_CASE("skewed routers make the busiest rank's experts slower", "[layout][experts]") {
  const auto step = [](const char* skew) {
    return simulate(mixtral({{"job.gpus", "8"},
                             {"parallel.expert", "8"},
                             {"parallel.expert_skew", skew},
                             {"strategy", "{kind: fsdp}"}}),
                    "fluid")
        .measured.metrics.step_time;
  };
  CHECK(step("1") > 1.2 * step("0"));
}

/// Rows of eight experts as YAML, in lists of layers if there are several.
std::string yaml(const std::vector<std::vector<double>>& layers) {
  return value_text(value::RowsOfExperts{}, layers);
}

TEST_CASE("a measured map of rows sets the load of the busiest rank", "[layout][experts]") {
  const auto rows = [](const std::vector<Override>& more) {
    std::vector<Override> set{{"job.gpus", "8"}, {"parallel.expert", "4"}, {"strategy", "{kind: fsdp}"}};
    set.insert(set.end(), more.begin(), more.end());
    return sizes_of(checked_plan(mixtral(set)), CollectiveKind::all_to_all, "expert parallel");
  };
  const auto mapped = [&](const std::vector<std::vector<double>>& layers) {
    return rows({{"parallel.expert_rows", yaml(layers)}});
  };
  const auto equal = rows({});
  CHECK(mapped({{7, 7, 7, 7, 7, 7, 7, 7}}) == equal);
  // Two experts a rank: the third rank has 60 of 120 rows, twice the average.
  const auto twice = mapped({{10, 10, 10, 10, 20, 40, 10, 10}});
  CHECK(twice == rows({{"parallel.expert_imbalance", "2"}}));
  CHECK(mapped({{10, 10, 10, 10, 40, 20, 10, 10}}) == twice);  // permuted within a rank
  CHECK(mapped({{10, 10, 10, 40, 20, 10, 10, 10}}) != twice);  // across ranks
  // Zipf's law with popular experts dealt in turn: rank r has the experts r + 1 and r + 5.
  std::vector<double> zipf;
  for (const int expert : {1, 5, 2, 6, 3, 7, 4, 8}) zipf.push_back(std::pow(expert, -0.8));
  CHECK(mapped({zipf}) == rows({{"parallel.expert_skew", "0.8"}}));
}

TEST_CASE("each layer waits for its own busiest rank", "[layout][experts]") {
  const std::vector<double> even(8, 1);
  const std::vector<double> skewed{1, 1, 1, 1, 2, 4, 1, 1};
  std::vector<std::vector<double>> layers(blocks, even);
  layers[3] = layers[20] = skewed;
  const auto sizes = sizes_of(checked_plan(mixtral({{"job.gpus", "8"},
                                                    {"parallel.expert", "4"},
                                                    {"strategy", "{kind: fsdp, param_dtype: bf16}"},
                                                    {"parallel.expert_rows", yaml(layers)}})),
                              CollectiveKind::all_to_all, "expert parallel");
  const double average = 2048 * 2 * 4096 * 2 / 1e6;
  CHECK(sizes.at(average) == 4 * (blocks - 2));
  CHECK(sizes.at(2 * average) == 4 * 2);
}

// torchtitan, models/llama4/infra/parallelize.py: fully_shard of the experts over efsdp = ranks / ep, of all
// else over all ranks.
TEST_CASE("FSDP shards experts over the ranks that hold them, and all else over all ranks",
          "[layout][experts]") {
  // On 64 ranks experts are fewer than the ranks that share them, which cut their rows.
  const int gpus = GENERATE(8, 64);
  const int ep = GENERATE(2, 4, 8);
  CAPTURE(gpus, ep);
  const auto scenario = mixtral({{"job.gpus", std::to_string(gpus)},
                                 {"parallel.expert", std::to_string(ep)},
                                 {"strategy", "{kind: fsdp, param_dtype: bf16, reduce_dtype: fp32}"}});
  const auto workload = checked_plan(scenario);
  const auto sum_of = [&](CollectiveKind kind, const std::string& group) {
    double sum = 0;
    for (const auto& [megabytes, calls] : sizes_of(workload, kind, group)) sum += megabytes * calls * 1e6;
    return sum;
  };
  const double experts = 8 * expert * blocks;
  // The 8 rows of a router are padded to the number of ranks.
  const auto dense =
      static_cast<double>(scenario.model.parameter_count()) - experts + (gpus - 8) * 4096.0 * blocks;
  const double root = 2 * 32000 * 4096 + 4096;     // embedding, head and norm, which are gathered once
  const auto own = ep == gpus ? 0 : experts / ep;  // a rank that holds its experts alone gathers nothing
  CHECK(sum_of(CollectiveKind::all_gather, "shards") == Approx(2 * (2 * (dense - root) + root)));
  CHECK(sum_of(CollectiveKind::all_gather, "experts, shards") == Approx(2 * 2 * own));
  CHECK(sum_of(CollectiveKind::reduce_scatter, "shards") == Approx(4 * dense));
  CHECK(sum_of(CollectiveKind::reduce_scatter, "experts, shards") == Approx(4 * own));
  // Every rank stores an equal share of everything, whatever its experts.
  CHECK(workload.first_program().memory.parameters.value() == Approx(4 * (dense + experts) / gpus));
}

TEST_CASE("the all-to-alls of a step are those of our trace", "[layout][experts]") {
  // kineto-2gpu-p2p-moe_gpt_medium_b4-equal: in each of two steps 24 of 8,388,608 elements of bf16.
  const auto scenario = load_scenario("h200-2x/moe", {}, shipped);
  const auto workload = checked_plan(scenario);
  CHECK(sizes_of(workload, CollectiveKind::all_to_all, "expert parallel") ==
        std::map<double, int>{{8'388'608 * 2 / 1e6, 24}});
  int calls = 0;
  for (const auto& task : workload.first_program().tasks)
    calls += std::holds_alternative<Call>(task.work) ? 1 : 0;
  CHECK(calls == 24);
}

TEST_CASE("the busiest rank's rows are sent and multiplied, and room for a fixed number needs no counts",
          "[layout][experts]") {
  const auto step = [](const std::vector<Override>& more) {
    std::vector<Override> set{{"job.gpus", "8"}, {"parallel.expert", "8"}};
    set.insert(set.end(), more.begin(), more.end());
    return mixtral(set);
  };
  const auto rows = [&](const std::vector<Override>& more) {
    return sizes_of(checked_plan(step(more)), CollectiveKind::all_to_all, "expert parallel").rbegin()->first;
  };
  const auto even = 2048 * 2 * 4096 * 2 / 1e6;
  CHECK(rows({}) == even);
  CHECK(rows({{"parallel.expert_imbalance", "1.5"}}) == Approx(1.5 * even));
  CHECK(rows({{"parallel.expert_capacity_factor", "1.25"}}) == Approx(1.25 * even));
  const auto products = [&](const std::vector<Override>& more) {
    const auto scenario = step(more);
    const auto costs = compute_costs(scenario);
    Seconds sum{};
    for (std::size_t i = 0; i < costs.forward.size(); ++i)
      if (scenario.model.layers[i].is_of_experts) sum += costs.forward[i];
    return sum.value();
  };
  CHECK(products({{"parallel.expert_imbalance", "1.5"}}) > 1.3 * products({}));
  // PyTorch's counts go all to all.
  const auto counts = sizes_of(checked_plan(step({})), CollectiveKind::all_to_all, "expert parallel");
  CHECK(counts.at(8 * 8 / 1e6) == blocks);
  const auto padded = checked_plan(step({{"parallel.expert_capacity_factor", "1"}}));
  CHECK(sizes_of(padded, CollectiveKind::all_to_all, "expert parallel").size() == 1);
}

TEST_CASE("gradients of experts are added up over the ranks that hold them", "[layout][experts]") {
  const auto* strategy = GENERATE("{kind: ddp}", "{kind: fsdp}", "{kind: fsdp1}", "{kind: zero, stage: 1}",
                                  "{kind: zero, stage: 3}", "{kind: distributed_optimizer}");
  // A CUDA graph makes the gradients of a whole block at once, if the CPU need not count rows in it.
  const bool in_graphs = GENERATE(false, true);
  CAPTURE(strategy, in_graphs);
  std::vector<Override> set{{"job.gpus", "8"}, {"parallel.expert", "4"}, {"strategy", strategy}};
  if (in_graphs)
    set.insert(set.end(), {{"job.cuda_graphs", "layers"}, {"parallel.expert_capacity_factor", "1"}});
  const auto scenario = mixtral(set);
  const auto workload = checked_plan(scenario);
  using Ranks = std::set<std::vector<std::size_t>>;
  CHECK(members_of(workload, Purpose::data, "experts, ") == Ranks{{0, 4}, {1, 5}, {2, 6}, {3, 7}});
  const auto reduced = [&](bool of_experts) {
    double sum = 0;
    const auto& actor = workload.actors.front();
    for (const auto& task : workload.first_program().tasks) {
      const auto* call = std::get_if<Call>(&task.work);
      if (!call || call->bytes < 1_KiB) continue;  // norms
      const auto& group = workload.groups[actor.groups[call->group.index].index()];
      const bool sums =
          call->kind == CollectiveKind::all_reduce || call->kind == CollectiveKind::reduce_scatter;
      if (sums && group.purpose == Purpose::data && group.name.starts_with("experts, ") == of_experts)
        sum += call->bytes.value();
    }
    return sum;
  };
  const auto all = static_cast<double>(scenario.model.parameter_count());
  const auto others = all - 8 * expert * blocks;
  const auto ratio = reduced(true) / reduced(false);
  CHECK(ratio == Approx(2 * expert * blocks / others).epsilon(0.02));
  // And all of it fits together.
  const auto run = simulate(scenario);
  CHECK(run.measured.metrics.step_time > Seconds{});
}

TEST_CASE("a rank holds its share of the experts, and all else", "[layout][experts]") {
  const auto parameters = [](const std::vector<Override>& more) {
    std::vector<Override> set{{"job.gpus", "8"}, {"strategy", "{kind: ddp}"}};
    set.insert(set.end(), more.begin(), more.end());
    return checked_plan(mixtral(set)).first_program().memory.parameters.value();
  };
  const auto whole = parameters({});
  CHECK(parameters({{"parallel.expert", "4"}}) == Approx(whole - 4 * 6 * expert * blocks));
  CHECK(parameters({{"parallel.expert", "4"}, {"parallel.expert_tensor", "2"}}) ==
        Approx(whole - 4 * 7 * expert * blocks));
}

TEST_CASE("folded ranks that share experts take as long as all of them", "[layout][experts]") {
  auto set = megatron;
  set.push_back({"job.accumulate", "2"});
  const auto scenario = mixtral(set);
  const auto workload = checked_plan(scenario);
  const Communicators communicators{workload, scenario};
  const auto end = [&](FoldRanks fold) {
    const auto lowered = lower(workload, scenario, communicators, fold);
    return choose_engine("fluid").engine->run(scenario.platform, lowered.ops).makespan().value();
  };
  CHECK(end(FoldRanks::yes) == Approx(end(FoldRanks::no)).epsilon(1e-9));
}
