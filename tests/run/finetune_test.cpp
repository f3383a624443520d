// SPDX-License-Identifier: Apache-2.0
// Adapters beside frozen weights: what strategies gather, reduce and keep of them.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/metrics/utilisation.hpp"
#include "sim/plan/plan.hpp"
#include "sim/run/simulate.hpp"
#include "sim/workload/architectures.hpp"
#include "sim/workload/blocks.hpp"
#include "tests/support/models.hpp"

using namespace gradway;

namespace {

using Sets = std::vector<Override>;

constexpr double trained = 20971520;  // of rank 8, beside all linear layers of Llama 3 8B
constexpr double frozen = 8030261248;
constexpr double of_block = trained / 32;
// Two norms, and the linear layers.
constexpr double block_norms = 2 * 4096;
constexpr double block_linear = 2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336.0;

/// Llama 3 8B on 8 H100, a sample of 2048 tokens each.
Scenario llama(Sets more) {
  Sets set{{"model", "llama3_8b"},     {"platform", "dgx-h100"},   {"job.gpus", "8"},
           {"job.precision", "bf16"},  {"job.batch_per_gpu", "1"}, {"job.sequence", "2048"},
           {"job.recompute", "none"},  {"job.finetune", "lora"},   {"optimizer", "adamw"},
           {"strategy", "{kind: ddp}"}};
  set.insert(set.end(), more.begin(), more.end());
  return load_scenario("sharded/llama2_7b", set, DataPath{{GRADWAY_SOURCE_DIR}});
}

Workload planned(const Scenario& scenario) {
  auto workload = plan(scenario, compute_costs(scenario));
  check(workload);
  return workload;
}

/// Bytes of all calls of a kind whose name has a text in it, and how many there are.
struct Sent {
  int calls = 0;
  Bytes bytes{};
};
Sent sent(const Workload& workload, CollectiveKind kind, std::string_view text = "") {
  Sent all;
  for (const auto& task : workload.first_program().tasks) {
    const auto* call = std::get_if<Call>(&task.work);
    if (!call || call->kind != kind || task.name.find(text) == std::string::npos) continue;
    ++all.calls;
    all.bytes += call->bytes;
  }
  return all;
}

const MemoryUse& memory_of(const Workload& workload) {
  return workload.first_program().memory;
}

}  // namespace

TEST_CASE("DDP reduces the gradients of adapters alone, and keeps all that is frozen") {
  const auto workload = planned(llama({}));
  const auto reduced = sent(workload, CollectiveKind::all_reduce);
  CHECK(reduced.bytes == Bytes{4 * trained});
  const auto& memory = memory_of(workload);
  CHECK(memory.parameters == Bytes{4 * trained + 2 * frozen});
  CHECK(memory.buckets == Bytes{4 * trained});
  CHECK(memory.optimizer_state.value() >= 8 * trained);
  CHECK(memory.optimizer_state.value() <= 12 * trained);
  const auto all_trained = planned(llama({{"job.finetune", "full"}}));
  CHECK(sent(all_trained, CollectiveKind::all_reduce).bytes == Bytes{4 * frozen});
}

TEST_CASE("FSDP2 gathers frozen and trained parameters, and reduces the trained") {
  const auto fsdp = Override{"strategy", "{kind: fsdp, param_dtype: bf16, reduce_dtype: fp32}"};
  const auto workload = planned(llama({fsdp}));
  const auto block = sent(workload, CollectiveKind::all_gather, "block 7 ");
  CHECK(block.calls == 2);
  CHECK(block.bytes == 2 * Bytes{2 * (block_linear + block_norms + of_block)});
  CHECK(sent(workload, CollectiveKind::reduce_scatter, "block 7 ").bytes == Bytes{4 * of_block});
  // Embedding, last norm and head are the root's, and have no adapters.
  CHECK(sent(workload, CollectiveKind::all_gather, "root").bytes == Bytes{2 * (2 * 128256.0 * 4096 + 4096)});
  CHECK(sent(workload, CollectiveKind::reduce_scatter, "root").calls == 0);
  CHECK(sent(workload, CollectiveKind::reduce_scatter).bytes == Bytes{4 * trained});
  CHECK(memory_of(workload).parameters == Bytes{(4 * trained + 2 * frozen) / 8});
  CHECK(workload.first_program().units.size() == 33);

  const auto in_4_bits = planned(llama({fsdp, {"job.finetune", "qlora"}}));
  const double nf4 = 4.126953125 / 8;
  CHECK(sent(in_4_bits, CollectiveKind::all_gather, "block 7 ").bytes.value() ==
        Approx(2 * (nf4 * block_linear + 2 * (block_norms + of_block))).epsilon(1e-12));
}

TEST_CASE("ZeRO and Megatron's optimizer cut what is trained, and ZeRO 3 gathers what is frozen, too") {
  const auto zero = [](const char* stage) {
    return planned(llama({{"strategy", "{kind: zero}"}, {"strategy.stage", stage}}));
  };
  const auto two = zero("2");
  CHECK(sent(two, CollectiveKind::all_gather).bytes == Bytes{2 * trained});
  // 16 bits whole, a slice of fp32
  CHECK(memory_of(two).parameters == Bytes{2 * frozen + 2 * trained + 4 * trained / 8});

  const auto three = zero("3");
  CHECK(memory_of(three).parameters.value() == Approx((2 * frozen + 6 * trained) / 8).epsilon(1e-9));
  // Twice, but for a last block that is used again soon; norms, and adapters of 1e5 elements at most, stay.
  const auto gathered = sent(three, CollectiveKind::all_gather, "part ").bytes.value();
  CHECK(gathered > 2 * 1.8 * frozen);
  CHECK(gathered <= 2 * 2 * (frozen + trained));
  CHECK(sent(three, CollectiveKind::reduce_scatter).bytes == Bytes{2 * trained});

  const auto megatron =
      planned(llama({{"job.framework", "megatron"}, {"strategy", "{kind: distributed_optimizer}"}}));
  CHECK(sent(megatron, CollectiveKind::reduce_scatter).bytes.value() ==
        4 * memory_of(megatron).buckets.value() / 4);
  CHECK(memory_of(megatron).buckets.value() < 4 * 1.3 * trained);  // packed projections share an A
}

TEST_CASE("the optimizer and the clipping of gradients read what is trained") {
  const auto times = [](const char* how) {
    const auto run = simulate(llama({{"job.finetune", how},
                                     {"strategy", "{kind: none}"},
                                     {"job.gpus", "1"},
                                     {"job.clip_grad_norm", "true"}}));
    return run.measured.metrics.optimizer.value();
  };
  CHECK(times("lora") < 0.05 * times("full"));
}

TEST_CASE("stages of a pipeline have their blocks' adapters, and a tied head is frozen on both ends") {
  const auto workload = planned(llama({{"parallel", "{pipeline: 4}"}, {"job.accumulate", "4"}}));
  REQUIRE(workload.programs.size() == 4);
  CHECK(workload.programs[1].memory.parameters ==
        Bytes{4 * trained / 4 + 2 * 8 * (block_linear + block_norms)});

  const auto tied = llama({{"model", "llama3_2_3b"}, {"parallel", "{pipeline: 2}"}, {"job.accumulate", "2"}});
  const auto of_tied = planned(tied);
  const double head = 128256.0 * 3072;
  CHECK(of_tied.programs[1].memory.parameters - of_tied.programs[0].memory.parameters ==
        Bytes{2 * 3072.0});  // the last norm
  CHECK(of_tied.programs[0].memory.parameters.value() > 2 * head);
  for (const auto& group : of_tied.groups) CHECK(group.name.find("tied") == std::string::npos);
}

TEST_CASE("a step of fine-tuning multiplies two thirds of a step that trains all") {
  const auto one_gpu = [](const char* how, const char* tokens) {
    return llama({{"job.finetune", how},
                  {"strategy", "{kind: none}"},
                  {"job.gpus", "1"},
                  {"job.sequence", tokens},
                  {"job.state_dtype", "bf16"}});
  };
  const auto flops = [&](const char* how) {
    return model_flops_per_sample(one_gpu(how, "2048").model).value();
  };
  // Attention is not trained either way, and narrow products come in addition.
  CHECK(flops("lora") / flops("full") > 2.0 / 3);
  CHECK(flops("lora") / flops("full") < 0.7);
  // With fewer tokens the many small kernels of adapters weigh more.
  const auto compute = [&](const char* how) {
    return simulate(one_gpu(how, "8192")).measured.metrics.compute.value();
  };
  CHECK(compute("lora") < compute("full"));
  CHECK(compute("qlora") > compute("lora"));
}

TEST_CASE("a flat parameter of FSDP1 has the frozen weights, and its gradient zeros for them") {
  const auto flat = planned(llama({{"strategy", "{kind: fsdp1}"}, {"job.state_dtype", "bf16"}}));
  const auto of_group = Bytes{2 * (block_linear + block_norms + of_block)};
  CHECK(sent(flat, CollectiveKind::all_gather, "block 7 ").bytes == 2 * of_group);
  CHECK(sent(flat, CollectiveKind::reduce_scatter, "block 7 ").bytes == of_group);
  CHECK(sent(flat, CollectiveKind::reduce_scatter, "root").calls == 0);
  CHECK(memory_of(flat).parameters == Bytes{2 * (frozen + trained) / 8});
  // The root's flat gradient does not exist. States are those of adapters.
  const auto use = memory_of(planned(llama(
      {{"strategy", "{kind: fsdp1, no_sync: true}"}, {"job.state_dtype", "bf16"}, {"job.accumulate", "2"}})));
  CHECK(use.gradients == 32 * of_group);
  CHECK(use.optimizer_state < Bytes{3 * 2 * trained / 8});
  CHECK_THROWS_AS(llama({{"strategy", "{kind: fsdp1}"}}), ConfigError);
}

TEST_CASE("gradients of flat parameters decide the memory of LitGPT's adapters under FSDP", "[validation]") {
  // Llama 2 7B on two A100 in bf16, adapters of queries and values, blocks recomputed, Alpaca's longest
  // sample, micro-batches of a step of 128 samples without reductions in between.
  // @source Lightning-AI/litgpt at 26857050, tutorials/resource-tables.md and finetune/lora.py
  const auto [batch, measured] = GENERATE(table<int, double>({{1, 22.18e9}, {2, 22.47e9}, {4, 23.39e9}}));
  const auto use = memory_of(planned(llama({{"model", "llama2_7b"},
                                            {"platform", "dgx-a100"},
                                            {"job.gpus", "2"},
                                            {"job.batch_per_gpu", std::to_string(batch)},
                                            {"job.accumulate", std::to_string(64 / batch)},
                                            {"job.sequence", "1304"},
                                            {"job.state_dtype", "bf16"},
                                            {"job.recompute", "full"},
                                            {"job.composed_norms", "true"},
                                            {"job.lora_targets", "query_value"},
                                            {"job.lora_dropout", "true"},
                                            {"strategy", "{kind: fsdp1, no_sync: true}"}})));
  CAPTURE(batch, use.allocated().value());
  CHECK(use.allocated().value() == Approx(measured).epsilon(0.06));
}

TEST_CASE("checkpoints repeat the blocks of a tower that is trained, not of a frozen one") {
  DecoderShape shape{
      .layers = 2, .heads = 8, .hidden = 512, .mlp = 1024, .vocabulary = 1000, .sequence = 256};
  shape.tower = {.layers = 3, .heads = 8, .hidden = 256, .mlp = 512, .patches = 512, .patch_inputs = 588};
  const auto kernels_of_tower = [&](Phase phase, const char* strategy) {
    auto scenario = llama({{"job.finetune", "full"}, {"job.recompute", "full"}, {"strategy", strategy}});
    scenario.model = test::model_of(decoder(shape));
    int launches = 0;
    const auto workload = planned(scenario);
    for (const auto& task : workload.first_program().tasks)
      if (task.phase == phase && task.name.starts_with("tower.")) launches += task.launches;
    return launches;
  };
  for (const auto* strategy : {"{kind: ddp}", "{kind: fsdp}", "{kind: zero, stage: 3}"}) {
    CAPTURE(strategy);
    shape.tower->frozen = false;
    const auto forward = kernels_of_tower(Phase::forward, strategy);
    CHECK(kernels_of_tower(Phase::backward, strategy) > 2 * forward);
    shape.tower->frozen = true;
    CHECK(kernels_of_tower(Phase::forward, strategy) == forward);
    CHECK(kernels_of_tower(Phase::backward, strategy) == 0);
  }
}
