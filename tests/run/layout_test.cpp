// SPDX-License-Identifier: Apache-2.0
// Ranks that hold parts of a model: what they send each other, what they hold, and where they stand.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/lower/lower.hpp"
#include "sim/plan/plan.hpp"
#include "sim/run/simulate.hpp"
#include "sim/scenario/pipeline/stages.hpp"
#include "tests/support/builders.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

using Sets = std::vector<Override>;

/// Llama 2 7B on H100s: 32 blocks, hidden 4096, sequence 2048, bf16, one sample.
Scenario llama(Sets more) {
  Sets set{{"model", "llama2_7b"},      {"platform", "dgx-h100"}, {"job.precision", "bf16"},
           {"job.batch_per_gpu", "1"},  {"job.sequence", "2048"}, {"job.recompute", "none"},
           {"strategy", "{kind: none}"}};
  set.insert(set.end(), more.begin(), more.end());
  return load_scenario("sharded/llama2_7b", set, DataPath{{GRADWAY_SOURCE_DIR}});
}

Workload planned(const Scenario& scenario) {
  auto workload = plan(scenario, compute_costs(scenario));
  check(workload);
  return workload;
}

/// What a program sends in groups of a purpose, by kind: how often, and megabytes.
struct Sent {
  int calls = 0;
  double megabytes = 0;
};
std::map<CollectiveKind, Sent> sent_by(const Workload& workload, std::size_t rank, Purpose purpose) {
  std::map<CollectiveKind, Sent> sent;
  const auto& actor = workload.actors[rank];
  for (const auto& task : workload.program_of(ActorId{rank}).tasks) {
    const auto* call = std::get_if<Call>(&task.work);
    if (!call || workload.groups[actor.groups[call->group.index].index()].purpose != purpose) continue;
    ++sent[call->kind].calls;
    sent[call->kind].megabytes += call->bytes.value() / 1e6;
  }
  return sent;
}

std::set<std::vector<std::size_t>> groups_of(const Workload& workload, Purpose purpose) {
  std::set<std::vector<std::size_t>> groups;
  for (const auto& group : workload.groups) {
    if (group.purpose != purpose) continue;
    std::vector<std::size_t> members;
    for (const auto member : group.members) members.push_back(member.index());
    std::ranges::sort(members);
    groups.insert(members);
  }
  return groups;
}

constexpr int blocks = 32;
constexpr double activation = 2048.0 * 4096 * 2 / 1e6;  // MB of bf16

}  // namespace

// The table of Megatron-Core's collectives: layers.py and mappings.py of tensor_parallel.
TEST_CASE("Megatron's tensor parallelism reduces four times a block", "[layout]") {
  const Sets megatron{{"job.gpus", "4"},
                      {"parallel.tensor", "4"},
                      {"job.framework", "megatron"},
                      {"strategy", "{kind: distributed_optimizer}"}};
  const auto sent = sent_by(planned(llama(megatron)), 0, Purpose::tensor);
  REQUIRE(sent.size() == 1);
  const auto& [calls, megabytes] = sent.at(CollectiveKind::all_reduce);
  CHECK(calls == 4 * blocks + 2 + 3);  // the embedding's, the output layer's, the loss's
  CHECK(megabytes == Approx((4 * blocks + 2) * activation + 3 * 2048 * 4 / 1e6));
}

TEST_CASE("Megatron of before September 2021 sums gradients of inputs without overlap", "[layout]") {
  const auto exposed = [](const std::string& overlap) {
    const auto run = simulate(llama({{"job.gpus", "4"},
                                     {"parallel.tensor", "4"},
                                     {"parallel.overlap", overlap},
                                     {"job.framework", "megatron"},
                                     {"strategy", "{kind: distributed_optimizer}"}}));
    const auto& metrics = run.measured.metrics;
    return std::pair{metrics.communication, metrics.exposed_communication};
  };
  const auto [none, all_exposed] = exposed("none");
  const auto [async, some_exposed] = exposed("async");
  CHECK(all_exposed / none == Approx(1).epsilon(0.01));
  CHECK(some_exposed < async * 0.75);
}

TEST_CASE("Megatron's sequence parallelism gathers inputs again beside a product", "[layout]") {
  const Sets megatron{{"job.gpus", "4"},
                      {"parallel.tensor", "4"},
                      {"parallel.sequence", "true"},
                      {"job.framework", "megatron"},
                      {"strategy", "{kind: distributed_optimizer}"}};
  const auto workload = planned(llama(megatron));
  const auto sent = sent_by(workload, 0, Purpose::tensor);
  // Of the embedding and of the output layer as of a block's products.
  CHECK(sent.at(CollectiveKind::all_gather).calls == 6 * blocks + 1 + 2);
  CHECK(sent.at(CollectiveKind::reduce_scatter).calls == 4 * blocks + 1 + 1);
  CHECK(sent.at(CollectiveKind::all_gather).megabytes == Approx((6 * blocks + 3) * activation));
  // The loss's three, and the gradients of all norms at once.
  CHECK(sent.at(CollectiveKind::all_reduce).calls == 3 + 1);
  CHECK(sent.at(CollectiveKind::all_reduce).megabytes ==
        Approx(3 * 2048 * 4 / 1e6 + (2 * blocks + 1) * 4096 * 4 / 1e6));
}

// As in our traces of two H200 (gpt_1b3, batch 4, bf16 autocast, PyTorch 2.11): a step has 50 all-reduces of
// 8,388,608 numbers in fp32, 48 in bf16 and 3 of 4,096; with sequence parallelism as many gathers and as many
// reductions, and 294 all-reduces of 2,048 numbers.
TEST_CASE("DTensors send what our traces show", "[layout]") {
  const auto gpt = [](const Sets& more) {
    Sets set{{"parallel.tensor", "2"}};
    set.insert(set.end(), more.begin(), more.end());
    return sent_by(planned(load_scenario("h200-2x/parallel-gpt_1b3", set, DataPath{{GRADWAY_SOURCE_DIR}})), 0,
                   Purpose::tensor);
  };
  constexpr double numbers = 8'388'608 / 1e6;
  const auto plain = gpt({});
  REQUIRE(plain.size() == 1);
  CHECK(plain.at(CollectiveKind::all_reduce).calls == 50 + 48 + 3);
  CHECK(plain.at(CollectiveKind::all_reduce).megabytes ==
        Approx(50 * 4 * numbers + 48 * 2 * numbers + 3 * 4 * 4096 / 1e6));
  const auto sequence = gpt({{"parallel.sequence", "true"}});
  for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
    CHECK(sequence.at(kind).calls == 50 + 48);
    CHECK(sequence.at(kind).megabytes == Approx(50 * 4 * numbers + 48 * 2 * numbers));
  }
  CHECK(sequence.at(CollectiveKind::all_reduce).calls == 294 + 3);
  CHECK(sequence.at(CollectiveKind::all_reduce).megabytes ==
        Approx(294 * 4 * 2048 / 1e6 + 3 * 4 * 4096 / 1e6));
}

TEST_CASE("ranks differ first in the axis that comes first", "[layout]") {
  const Sets sixteen{{"job.gpus", "16"},
                     {"parallel.tensor", "2"},
                     {"parallel.pipeline", "2"},
                     {"job.accumulate", "2"},
                     {"strategy", "{kind: ddp}"}};
  const auto workload = planned(llama(sixteen));
  CHECK(groups_of(workload, Purpose::tensor) ==
        std::set<std::vector<std::size_t>>{
            {0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}, {10, 11}, {12, 13}, {14, 15}});
  CHECK(groups_of(workload, Purpose::data) ==
        std::set<std::vector<std::size_t>>{{0, 2, 4, 6}, {1, 3, 5, 7}, {8, 10, 12, 14}, {9, 11, 13, 15}});
  CHECK(groups_of(workload, Purpose::pipeline).contains({0, 8}));
  CHECK(groups_of(workload, Purpose::pipeline).size() == 8);

  auto other = sixteen;
  other.push_back({"parallel.order", "tp-cp-ep-pp-dp"});
  CHECK(groups_of(planned(llama(other)), Purpose::pipeline).contains({0, 2}));
}

TEST_CASE("stages hold the model once, and those at its ends hold fewer blocks", "[layout]") {
  const Pipeline pipeline{Schedule::one_f_one_b, 6, 1};
  const auto model = llama({{"job.gpus", "6"}, {"parallel.pipeline", "6"}, {"job.accumulate", "6"}}).model;
  const StagedModel staged{model, pipeline};
  std::vector<int> of_stage(6, 0);
  std::int64_t parameters = 0;
  std::set<std::string> names;
  for (int rank = 0; rank < 6; ++rank) {
    const auto part = staged.part_of(rank);
    parameters += part.model.parameter_count();
    for (const auto& layer : part.model.layers) {
      CHECK(names.insert(layer.name).second);
      of_stage[static_cast<std::size_t>(rank)] += layer.name.ends_with("mlp.residual") ? 1 : 0;
    }
  }
  CHECK(parameters == model.parameter_count());
  CHECK(names.size() == model.layers.size());
  CHECK(of_stage == std::vector<int>{5, 6, 6, 5, 5, 5});
}

TEST_CASE("tensor ranks hold the model once but for what they do not divide", "[layout]") {
  const auto scenario = llama({{"job.gpus", "8"}, {"parallel.tensor", "8"}});
  const auto of_rank = compute_costs(scenario).of_rank;
  std::int64_t whole = 0;
  std::int64_t divided = 0;
  for (std::size_t i = 0; i < of_rank.size(); ++i) {
    const bool same = of_rank[i].parameter_count() == scenario.model.layers[i].parameter_count();
    (same ? whole : divided) += of_rank[i].parameter_count();
  }
  CHECK(whole == (2 * blocks + 1) * 4096);
  CHECK(8 * divided + whole == scenario.model.parameter_count());
}

TEST_CASE("a stage keeps the activations of the micro-batches under way", "[layout]") {
  const auto activations = [](const char* schedule, const char* micro_batches) {
    const auto workload = planned(llama({{"job.gpus", "4"},
                                         {"parallel.pipeline", "4"},
                                         {"parallel.schedule", schedule},
                                         {"job.accumulate", micro_batches}}));
    std::vector<double> gigabytes;
    for (const auto& program : workload.programs)
      gigabytes.push_back(program.memory.activations.value() / 1e9);
    return gigabytes;
  };
  const auto few = activations("1f1b", "4");
  const auto many = activations("1f1b", "16");
  CHECK(few == many);  // 1F1B: as many as there are stages behind, however many follow
  // From the second to the third stage one fewer is under way, of eight blocks each.
  const auto each = few[1] - few[2];
  CHECK(each > 0);
  const auto all = activations("gpipe", "16");
  CHECK(all[1] - many[1] == Approx(13 * each).epsilon(0.01));  // GPipe keeps all 16, 1F1B 3
}

TEST_CASE("layouts take as long folded as simulated rank by rank, on both engines", "[layout]") {
  const auto more = GENERATE(
      Sets{{"parallel.tensor", "2"}, {"parallel.sequence", "true"}, {"parallel.pipeline", "2"}},
      Sets{{"parallel.tensor", "4"}, {"job.framework", "megatron"}},
      Sets{{"parallel.pipeline", "4"}, {"parallel.virtual", "2"}, {"parallel.schedule", "interleaved"}},
      Sets{{"parallel.pipeline", "2"}, {"parallel.schedule", "zb_v"}},
      Sets{{"parallel.pipeline", "4"}, {"parallel.schedule", "zb_h1"}, {"job.framework", "deepspeed"}});
  Sets set{{"job.gpus", "16"}, {"job.accumulate", "4"}, {"strategy", "{kind: distributed_optimizer}"}};
  set.insert(set.end(), more.begin(), more.end());
  const auto scenario = llama(set);
  const auto step = [&](const char* engine, FoldRanks fold) {
    return simulate(scenario, engine, fold).measured.metrics.step_time.value();
  };
  const auto folded = step("fluid", FoldRanks::yes);
  CHECK(step("fluid", FoldRanks::no) == Approx(folded).epsilon(1e-9));
  CHECK(step("simgrid", FoldRanks::yes) == Approx(folded).epsilon(1e-9));
}

TEST_CASE("of replicas on nodes that are alike a rank a stage is simulated", "[layout]") {
  // A norm of four bytes meets in a tree, where places differ; it takes no link.
  const auto scenario = llama({{"job.gpus", "128"},
                               {"job.accumulate", "4"},
                               {"job.clip_grad_norm", "true"},
                               {"parallel.tensor", "8"},
                               {"parallel.pipeline", "4"},
                               {"strategy", "{kind: distributed_optimizer}"}});
  const auto workload = planned(scenario);
  const Communicators communicators{workload, scenario};
  CHECK(lower(workload, scenario, communicators, FoldRanks::yes).folding.simulated_ranks() == 4);
}

TEST_CASE("ZeRO under a pipeline reduces each gradient once a step", "[layout]") {
  const auto reduced = [](const char* micro_batches) {
    const auto workload = planned(llama({{"job.gpus", "8"},
                                         {"job.accumulate", micro_batches},
                                         {"job.framework", "deepspeed"},
                                         {"parallel.pipeline", "4"},
                                         {"strategy", "{kind: zero, stage: 1}"}}));
    return sent_by(workload, 0, Purpose::data).at(CollectiveKind::all_reduce).megabytes;
  };
  CHECK(reduced("8") == Approx(reduced("1")));
}

// deepspeed/runtime/pipe/schedule.py: a stage sends its last gradients, then come ReduceTiedGrads,
// ReduceGrads.
TEST_CASE("a stage under ZeRO-1 sends its last gradients before it reduces its own", "[layout]") {
  const auto workload = planned(llama({{"job.gpus", "8"},
                                       {"job.accumulate", "4"},
                                       {"job.framework", "deepspeed"},
                                       {"parallel.pipeline", "4"},
                                       {"strategy", "{kind: zero, stage: 1}"}}));
  const auto& tasks = workload.program_of(ActorId{2}).tasks;  // of the second stage
  std::size_t last_sent = 0;
  std::size_t first_reduced = tasks.size();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].name == "send gradients") last_sent = i;
    if (tasks[i].name == "gradient into bucket") first_reduced = std::min(first_reduced, i);
  }
  CHECK(last_sent > 0);
  CHECK(last_sent < first_reduced);
  CHECK(first_reduced < tasks.size());
}

// deepspeed/runtime/bf16_optimizer.py, update_hp_grads.
TEST_CASE("BF16_Optimizer adds each micro-step's gradients to those in fp32, and reduces these", "[layout]") {
  const auto with = [](const char* strategy) {
    return planned(llama({{"job.gpus", "2"}, {"job.accumulate", "3"}, {"strategy", strategy}}));
  };
  const auto own = with("{kind: zero, stage: 1}");
  const auto in_fp32 = with("{kind: zero, stage: 1, grad_accum_dtype: fp32}");
  const auto reduced = [](const Workload& workload) {
    return sent_by(workload, 0, Purpose::data).at(CollectiveKind::all_reduce).megabytes;
  };
  CHECK(reduced(in_fp32) == Approx(2 * reduced(own)));
  CHECK(reduced(with("{kind: zero, stage: 1, grad_accum_dtype: bf16}")) == Approx(reduced(own)));
  std::vector<int> kernels;
  for (const auto& task : in_fp32.programs.front().tasks) {
    if (task.name == "gradients added in fp32") kernels.push_back(task.launches);
    CHECK(task.name.find("accumulate") == std::string::npos);
  }
  CHECK(kernels == std::vector<int>(3, 2 * (9 * blocks + 3)));  // a cast and an addition for each parameter
}

TEST_CASE("pipelines of DeepSpeed end with fewer micro-batches than stages, too", "[layout]") {
  const auto micro_batches = GENERATE("1", "2", "3", "4", "8");
  const auto schedule = GENERATE("1f1b", "gpipe", "zb_h1");
  const auto scenario = llama({{"job.gpus", "4"},
                               {"job.accumulate", micro_batches},
                               {"job.framework", "deepspeed"},
                               {"parallel.pipeline", "4"},
                               {"parallel.schedule", schedule},
                               {"strategy", "{kind: zero, stage: 1}"}});
  CHECK(simulate(scenario, "fluid", FoldRanks::yes).measured.metrics.step_time > Seconds{});
}

// PipelineStage.scale_grads of torch.distributed.pipelining; Megatron and torchtitan divide the loss.
TEST_CASE("PyTorch's pipelines divide each gradient by the micro-batches once a step", "[layout]") {
  const Sets stages{{"job.gpus", "4"}, {"parallel.pipeline", "4"}};
  const auto divided = [&](Sets more) {
    more.insert(more.begin(), stages.begin(), stages.end());
    const auto workload = planned(llama(more));
    int kernels = 0;
    for (const auto& program : workload.programs)
      for (const auto& task : program.tasks)
        if (task.name == "gradients averaged") kernels += task.launches;
    return kernels;
  };
  // Two norms and seven linear layers a block, the embedding, the last norm and the output layer.
  CHECK(divided({{"job.accumulate", "8"}}) == 9 * blocks + 3);
  CHECK(divided({{"job.accumulate", "1"}}) == 0);
  CHECK(divided({{"job.accumulate", "8"}, {"job.framework", "megatron"}}) == 0);
  CHECK(divided({{"job.accumulate", "8"}, {"job.gpus", "8"}, {"strategy", "{kind: fsdp}"}}) == 0);
}
