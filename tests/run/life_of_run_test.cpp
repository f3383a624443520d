// SPDX-License-Identifier: Apache-2.0
// What a GPU holds in each part of a run: loading, the first steps, evaluation, checkpoints.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/compute/compute_costs.hpp"
#include "sim/compute/memory_range.hpp"
#include "sim/config/config.hpp"
#include "sim/lower/nccl_memory.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/sync.hpp"

using namespace gradway;

namespace {

using Sets = std::vector<Override>;

// GPT of 24 blocks, width 2048, 50304 words, an output layer of its own.
constexpr double hidden = 2048;
constexpr double words = 50304;
constexpr double embedding = words * hidden;
constexpr double block = 12 * hidden * hidden + 13 * hidden;  // with biases and two norms

Scenario gpt(const std::string& strategy, Sets more = {}) {
  Sets set{{"model", "gpt_1b3"},           {"job.sequence", "1024"},     {"job.batch_per_gpu", "4"},
           {"job.precision", "bf16"},      {"optimizer", "adamw_fused"}, {"strategy", strategy},
           {"job.zero_grad", "after_step"}};
  set.insert(set.end(), more.begin(), more.end());
  return load_scenario("h200-2x/gpt_1b3", set, DataPath{{GRADWAY_SOURCE_DIR}});
}

MemoryUse memory_of(const Scenario& scenario) {
  return plan(scenario, compute_costs(scenario)).first_program().memory;
}

double parameters_of(const Scenario& scenario) {
  return static_cast<double>(scenario.model.parameter_count());
}

}  // namespace

TEST_CASE("the first step makes the optimizer's states, unless DeepSpeed has made them", "[memory]") {
  const auto fsdp = memory_of(gpt("{kind: fsdp}", {{"job.batch_per_gpu", "16"}}));
  CHECK(fsdp.in(RunPart::step) == fsdp.allocated());
  CHECK(fsdp.in(RunPart::first_step) == fsdp.allocated() - fsdp.optimizer_state);
  const auto zero = memory_of(gpt("{kind: zero, stage: 1}", {{"job.batch_per_gpu", "16"}}));
  CHECK(zero.in(RunPart::first_step) == zero.allocated());
}

TEST_CASE("between steps there are parameters, states and buckets", "[memory]") {
  const auto scenario = gpt("{kind: ddp}");
  const auto use = memory_of(scenario);
  CHECK(use.in(RunPart::checkpoint) == use.parameters + use.optimizer_state + use.buckets + use.workspace);
  CHECK(use.in(RunPart::loading) == Bytes{12 * parameters_of(scenario)});
  CHECK(use.in(RunPart::evaluation) == 0_B);
  CHECK(use.beyond_step() == 0_B);
  const auto kept = memory_of(gpt("{kind: ddp}", {{"job.zero_grad", "before_backward"}}));
  CHECK(kept.in(RunPart::checkpoint) == use.in(RunPart::checkpoint) + Bytes{4 * parameters_of(scenario)});
}

TEST_CASE("an evaluation keeps no activations of earlier layers", "[memory]") {
  const auto evaluation = [](const char* batch, Sets more = {}) {
    more.push_back({"job.eval_batch", batch});
    return memory_of(gpt("{kind: ddp}", more));
  };
  const auto same = evaluation("4");
  CHECK(same.in(RunPart::evaluation) < same.allocated());
  CHECK(same.beyond_step() == 0_B);
  // The largest moment is the loss: 16-bit logits, logarithms of the softmax in 16 bits and in fp32; or, from
  // logits.float(), that copy and logarithms in fp32.
  const auto [logits, width] =
      GENERATE(table<std::string, double>({{"false", 2 + 2 + 4}, {"true", 2 + 4 + 4}}));
  const auto [eight, sixteen] = std::pair{evaluation("8", {{"job.float_logits", logits}}),
                                          evaluation("16", {{"job.float_logits", logits}})};
  const auto of_token = (sixteen.in(RunPart::evaluation)-eight.in(RunPart::evaluation)) / (8 * 1024);
  CHECK(of_token.value() == Approx(width * words).epsilon(0.02));
  // Recomputation changes nothing where nothing is kept; half the tokens of each sample are half the tokens.
  CHECK(evaluation("8", {{"job.recompute", "full"}, {"job.float_logits", logits}}).in(RunPart::evaluation) ==
        eight.in(RunPart::evaluation));
  const auto shorter =
      evaluation("16", {{"job.eval_sequence", "512"}, {"job.float_logits", logits}}).in(RunPart::evaluation);
  CHECK(shorter.value() == Approx(eight.in(RunPart::evaluation).value()).epsilon(1e-4));
}

// Two H200, PyTorch 2.11, transformers 5.17, Llama 3.2 1B with random weights, 4 x 1,024 tokens, evaluated
// with 16 samples: own measurement, 2026-11-30, after it was predicted. What autocast keeps was found by it.
TEST_CASE("parts of a run hold what was measured", "[memory]") {
  const auto run = [](const char* strategy) {
    return memory_of(load_scenario_text(
        fmt::format(
            "schema: 1\nmodel: llama3_2_1b\nplatform: h200-2x\njob: {{ gpus: 2, batch_per_gpu: 4, sequence: "
            "1024, precision: bf16, implementation: huggingface, eval_batch: 16, eval_sequence: 1024 }}\n"
            "strategy: {}\noptimizer: adamw_fused\n",
            strategy),
        "run.yaml", DataPath{{GRADWAY_SOURCE_DIR}}));
  };
  const auto near = [](Bytes bytes, double measured) {
    return bytes.value() == Approx(measured).epsilon(0.01);
  };
  const auto fsdp = run("{ kind: fsdp, param_dtype: bf16, init_on_gpu: true, state_dict: full_on_cpu }");
  CHECK(near(fsdp.in(RunPart::first_step), 16'648'194'048));
  CHECK(near(fsdp.allocated(), 21'625'080'832));
  CHECK(near(fsdp.in(RunPart::evaluation), 29'211'102'720));
  CHECK(near(fsdp.in(RunPart::checkpoint), 8'533'825'536));
  const auto ddp = run("{ kind: ddp }");
  CHECK(near(ddp.in(RunPart::first_step), 27'245'758'464));
  CHECK(near(ddp.in(RunPart::rebuilt_buckets), 42'109'160'448));
  CHECK(near(ddp.allocated(), 37'164'854'272));
  CHECK(near(ddp.in(RunPart::evaluation), 43'459'816'960));
}

TEST_CASE("a job whose evaluation does not fit does not fit", "[memory]") {
  const auto scenario = gpt("{kind: ddp}", {{"job.eval_batch", "512"}});
  const auto use = memory_of(scenario);
  REQUIRE(use.beyond_step() > 0_B);
  CHECK(use.needed() == use.in(RunPart::evaluation) + use.slack + use.context + use.nccl);
  const auto peak = peak_of_run(scenario, use);
  CHECK(peak.part == RunPart::evaluation);
  CHECK(peak.allocated == use.in(RunPart::evaluation));
  CHECK(peak.decided_by == "activations");
  CHECK(peak.step == 0);
  CHECK(memory_range(scenario, use).verdict == MemoryVerdict::does_not_fit);
  CHECK_FALSE(fits(scenario, use));
  const auto without = gpt("{kind: ddp}");
  CHECK(memory_range(without, memory_of(without)).verdict == MemoryVerdict::fits);
}

TEST_CASE("a full state dict gathers a parameter, a group or the whole model", "[memory]") {
  const auto saving = [](const std::string& kind, const std::string& state_dict) {
    const auto use = memory_of(gpt("{kind: " + kind + ", state_dict: " + state_dict + "}"));
    const auto sharded = memory_of(gpt("{kind: " + kind + "}"));
    return (use.in(RunPart::checkpoint)-sharded.in(RunPart::checkpoint)).value();
  };
  const auto all = 4 * parameters_of(gpt("{kind: fsdp}"));
  CHECK(saving("fsdp", "full_on_cpu") == Approx(4 * embedding));
  CHECK(saving("fsdp", "full_on_gpu") == Approx(all));
  // FSDP1 gathers the root group, of both embeddings and the output layer.
  CHECK(saving("fsdp1", "full_on_cpu") == Approx(all - 4 * 24 * block).epsilon(1e-6));
  CHECK(saving("fsdp1", "full_on_gpu") == Approx(2 * all - 4 * 24 * block).epsilon(1e-6));
}

TEST_CASE("a model made on the GPU is whole until it is sharded", "[memory]") {
  const auto loading = [](const std::string& strategy) {
    return memory_of(gpt(strategy, {{"optimizer", "sgd"}})).in(RunPart::loading).value();
  };
  const auto all = 4 * parameters_of(gpt("{kind: fsdp}"));
  CHECK(loading("{kind: fsdp}") == Approx(all / 2));
  CHECK(loading("{kind: fsdp, init_on_gpu: true}") == Approx(all + 4 * block / 2));
  const auto root = all - 4 * 24 * block;
  CHECK(loading("{kind: fsdp1, init_on_gpu: true}") == Approx(all + root).epsilon(1e-6));
}

TEST_CASE("FSDP1 keeps whole gradients of all micro-batches without reductions", "[memory]") {
  const auto use = [](const std::string& strategy) {
    return memory_of(gpt(strategy, {{"job.accumulate", "4"}}));
  };
  const auto scenario = gpt("{kind: fsdp1}");
  const auto kept = use("{kind: fsdp1, param_dtype: bf16, no_sync: true}");
  CHECK(kept.gradients.value() == Approx(2 * parameters_of(scenario)).epsilon(1e-6));
}

TEST_CASE("what the allocator reserves has an interval, wider where a model is sharded", "[memory]") {
  const auto share = [](const std::string& strategy, Sets more = {}) {
    const auto scenario = gpt(strategy, std::move(more));
    const auto use = memory_of(scenario);
    const auto peak = peak_of_run(scenario, use);
    CHECK(peak.reserved_low <= peak.reserved);
    CHECK(peak.reserved <= peak.reserved_high);
    return std::pair{peak.reserved_low / use.by_stream - 1, peak.reserved_high / use.by_stream - 1};
  };
  CHECK(share("{kind: none}", {{"job.gpus", "1"}}).second == Approx(0.239));
  CHECK(share("{kind: fsdp}").first == Approx(0.019));
  CHECK(share("{kind: fsdp}").second == Approx(0.244));
  CHECK(share("{kind: fsdp1}").second == Approx(0.308));
  // Expandable segments: from no fragments on.
  CHECK(share("{kind: fsdp}", {{"job.expandable_segments", "true"}}).first == Approx(0).margin(1e-9));
}

TEST_CASE("an optimizer in the backward pass leaves one gradient", "[memory]") {
  const auto use = [](const char* is_inside) {
    return memory_of(gpt("{kind: none}", {{"job.gpus", "1"},
                                          {"optimizer", "adamw_8bit"},
                                          {"job.state_dtype", "bf16"},
                                          {"job.batch_per_gpu", "1"},
                                          {"job.sequence", "128"},
                                          {"job.optimizer_in_backward", is_inside}}));
  };
  const auto [after, inside] = std::pair{use("false"), use("true")};
  CHECK(after.gradients == after.parameters);
  CHECK(inside.gradients <= Bytes{2 * embedding});
  CHECK(inside.allocated() < after.allocated() - 0.8 * after.gradients);
}

TEST_CASE("instances of Megatron's optimizer shard it among fewer ranks and add up their shards",
          "[memory]") {
  const auto planned = [](const char* instances) {
    const auto scenario = load_scenario("sharded/llama2_7b",
                                        {{"platform", "dgx-h100"},
                                         {"job.gpus", "8"},
                                         {"job.framework", "megatron"},
                                         {"strategy", "{kind: distributed_optimizer}"},
                                         {"strategy.instances", instances},
                                         {"optimizer", "adamw_fused"}},
                                        DataPath{{GRADWAY_SOURCE_DIR}});
    auto workload = plan(scenario, compute_costs(scenario));
    check(workload);
    return std::pair{parameters_of(scenario), std::move(workload)};
  };
  const auto [parameters, workload] = planned("2");
  const auto& use = workload.first_program().memory;
  CHECK(use.optimizer_state == Bytes{8 * parameters / 4});
  CHECK(use.parameters == Bytes{(2 + 4.0 / 4) * parameters});
  Bytes scattered{}, added{};
  for (const auto& task : workload.first_program().tasks) {
    const auto* call = std::get_if<Call>(&task.work);
    if (!call || !task.name.starts_with("bucket")) continue;
    if (call->kind == CollectiveKind::reduce_scatter) scattered += call->bytes;
    if (call->kind == CollectiveKind::all_reduce) added += call->bytes;
  }
  CHECK(scattered == Bytes{4 * parameters});
  CHECK(added == scattered / 4);
  CHECK_THROWS_AS(planned("3"), ConfigError);
}

TEST_CASE("ZeRO++ reduces matrices of gradients in int4, in a node and then between nodes", "[memory]") {
  const auto scenario = load_scenario("keys/zero-plus-plus", {}, DataPath{{GRADWAY_SOURCE_DIR}});
  double matrices = 0, scales = 0, vectors = 0;
  for (const auto& layer : scenario.model.layers) {
    for (const auto& parameter : layer.parameters) {
      const auto& shape = parameter.shape;
      const auto elements = static_cast<double>(parameter.elements());
      (shape.size() > 1 ? matrices : vectors) += elements;
      if (shape.size() > 1) scales += static_cast<double>(std::max(shape[0], shape[1]));
    }
  }
  const auto workload = plan(scenario, compute_costs(scenario));
  check(workload);
  Bytes in_node{}, between{}, as_they_are{};
  for (const auto& task : workload.first_program().tasks) {
    const auto* call = std::get_if<Call>(&task.work);
    if (call == nullptr) continue;
    if (call->kind == CollectiveKind::all_to_all) (call->group.index == 2 ? in_node : between) += call->bytes;
    if (call->kind == CollectiveKind::reduce_scatter) as_they_are += call->bytes;
  }
  CHECK(in_node.value() == Approx(matrices / 2 + 4 * scales));  // a scale in fp32 for each group
  CHECK(between.value() == Approx(in_node.value() / 8));
  CHECK(as_they_are.value() == Approx(2 * vectors));
}

TEST_CASE("offloaded activations leave with their block, and come back while the next one runs", "[memory]") {
  const auto scenario = load_scenario("keys/megatron-fsdp", {}, DataPath{{GRADWAY_SOURCE_DIR}});
  const auto costs = compute_costs(scenario);
  const auto workload = plan(scenario, costs);
  check(workload);
  const auto& tasks = workload.first_program().tasks;
  // Queries, keys, the packed projection, of which values are a part, and the result of attention.
  const Bytes of_block{2.0 * 8192 * (4096 + 1024 + 6144 + 4096)};
  CHECK(costs.memory.offloaded.front() == of_block);
  CHECK(costs.memory.offloaded.back() == 0_B);
  std::vector<std::size_t> out, back;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto* copy = std::get_if<Copy>(&tasks[i].work);
    if (copy == nullptr || !tasks[i].name.starts_with("activations")) continue;
    CHECK(copy->bytes == of_block);
    CHECK(!tasks[i].host_waits);
    (copy->to == Place::host ? out : back).push_back(i);
  }
  REQUIRE(out.size() == 2 * 31);  // of each micro-batch
  REQUIRE(back.size() == out.size());
  // The block that left last comes back first.
  for (std::size_t i = 0; i < 31; ++i)
    CHECK(std::ranges::find(tasks[back[i]].after, TaskId{out[30 - i]}) != tasks[back[i]].after.end());
}

// torch.cuda.memory._snapshot and _record_memory_history on two H200, 2026-11-30, PyTorch 2.11,
// transformers 5.17: the streams of gathers and of reductions allocate at most 112 and 274 MiB of GPT-2,
// whose shards are cast, and 617 and 1,178 MiB of Llama 3.2 1B in bf16.
TEST_CASE("other streams of FSDP2 allocate what was measured", "[memory]") {
  const auto of_others = [](const char* model, const char* states, const char* strategy) {
    const auto scenario = load_scenario("h200-4x/user_program",
                                        {{"model", model},
                                         {"job.gpus", "2"},
                                         {"job.batch_per_gpu", "1"},
                                         {"job.sequence", "256"},
                                         {"job.state_dtype", states},
                                         {"strategy", strategy}},
                                        DataPath{{GRADWAY_SOURCE_DIR}});
    const auto use = memory_of(scenario);
    const auto others = make_sync(scenario)->memory().of_others;
    CHECK(use.by_stream >= use.allocated());
    CHECK(use.by_stream <= use.allocated() + others);
    return others / 1_MiB;
  };
  CHECK(of_others("gpt2", "fp32", "{kind: fsdp, param_dtype: bf16}") == Approx(112 + 274).margin(2));
  CHECK(of_others("llama3_2_1b", "bf16", "{kind: fsdp}") == Approx(617 + 1178).margin(2));
  CHECK(of_others("gpt2", "fp32", "{kind: ddp}") == 0);
}

// torch.cuda.mem_get_info on two H200, 2026-11-30, NCCL 2.28.9, NVLS off: 840 MiB with the first all-reduce
// over 24 channels, 446 with the first all-to-all over 32; 360 + 18 n and 62 + 12 n with n channels.
TEST_CASE("NCCL takes what was measured of two GPUs", "[memory]") {
  auto scenario = gpt("{kind: ddp}", {{"job.gpus", "2"}, {"nccl.NCCL_NVLS_ENABLE", "0"}});
  const auto measured = [&] {
    const auto workload = plan(scenario, compute_costs(scenario));
    return nccl_memory(workload, Communicators{workload, scenario}, scenario.platform).front();
  };
  CHECK(measured() == 840_MiB);
  scenario.job.nccl["NCCL_MAX_NCHANNELS"] = "8";
  CHECK(measured() == (360 + 18 * 8) * 1_MiB);

  const CommunicatorFacts two{.ranks = 2, .nvlink = true, .compute_capability = 90};
  NcclSettings settings;
  settings.max_channels = 1;
  const Connections pairs{.pairs = true};
  CHECK(memory_of(pairs, two, settings, 1, false) - memory_of({.rings = true}, two, settings, 1, false) ==
        0_B);
  CHECK(code_of(pairs) - code_of({.rings = true}) == 62_MiB);
}

TEST_CASE("NCCL's buffers grow with peers, and over the network with NICs that reach GPUs", "[memory]") {
  CommunicatorFacts node{.ranks = 8, .nvlink = true, .compute_capability = 90};
  const NcclSettings settings;
  constexpr int channels = 16;
  const auto bytes = [&](const Connections& connections, bool reaches = true) {
    return memory_of(connections, node, settings, channels, reaches);
  };
  // A chain of a tree has one neighbour more than a ring, 12 MiB a channel.
  CHECK(bytes({.rings = true, .trees = true}) - bytes({.rings = true}) == channels * 12_MiB);
  const auto per_peer = pair_channels(node, settings).per_peer;
  CHECK(bytes({.rings = true, .pairs = true}) - bytes({.rings = true}) == 7 * per_peer * 12_MiB);
  // 16 channels of 8 GPUs in two directions, and a page each.
  CHECK(bytes({.rings = true, .nvls = true}) - bytes({.rings = true}) == 16 * (8 * 2_MiB + 2_MiB));
  const auto inside = bytes({.rings = true});
  node.ranks = 16;
  node.nodes = 2;
  node.net_bandwidth = 400_GBps;
  const auto channels_kept = std::max(channels, pair_channels(node, settings).all) -
                             std::max(channels, pair_channels({.ranks = 8, .nvlink = true}, settings).all);
  CHECK(bytes({.rings = true}) - inside == channels / 8.0 * 10_MiB + channels_kept * 6_MiB);
  CHECK(bytes({.rings = true}, false) - inside == channels_kept * 6_MiB);
}

TEST_CASE("deterministic algorithms give cuBLAS the workspaces of Hopper on older GPUs", "[memory]") {
  const auto workspace = [](const char* platform, const char* is_deterministic) {
    return memory_of(
               gpt("{kind: ddp}",
                   {{"platform", platform}, {"job.gpus", "2"}, {"job.deterministic", is_deterministic}}))
        .workspace;
  };
  CHECK(workspace("dgx-a100", "false") == 2 * 8320_KiB);
  CHECK(workspace("dgx-a100", "true") == 2 * 32_MiB);
  CHECK(workspace("dgx-h100", "true") == workspace("dgx-h100", "false"));
}

TEST_CASE("Transformer Engine has workspaces of its own, one more for each stream of experts", "[memory]") {
  const auto workspace = [](const char* platform, const char* model) {
    return memory_of(gpt("{kind: distributed_optimizer}", {{"platform", platform},
                                                           {"model", model},
                                                           {"job.gpus", "8"},
                                                           {"job.framework", "megatron"}}))
        .workspace;
  };
  CHECK(workspace("dgx-h100", "gpt_1b3") == (2 + 1) * 32_MiB);
  CHECK(workspace("dgx-a100", "gpt_1b3") == 2 * 8320_KiB + 4_MiB);
  CHECK(workspace("dgx-h100", "mixtral_8x7b") == (2 + 1 + 4) * 32_MiB);
}

TEST_CASE("the moments of a step have what hooks, AdamW and micro-batches add", "[memory]") {
  const auto moments = [](const std::string& strategy, Sets more = {}) {
    const auto scenario = gpt(strategy, std::move(more));
    return memory_over_step(scenario, compute_costs(scenario)).front();
  };
  const double parameters = parameters_of(gpt("{kind: ddp}"));
  const auto hook = moments("{kind: ddp, comm_hook: bf16}");
  CHECK(hook[hook.size() - 2].use.comm_hook == Bytes{2 * parameters});  // the end of the backward pass
  CHECK(hook.back().use.comm_hook == 0_B);
  const auto power = moments("{kind: ddp, comm_hook: powersgd, powersgd_rank: 4}");
  CHECK(power.front().use.comm_hook > Bytes{4 * parameters});  // errors of all matrices
  // Square roots of the second moments.
  CHECK(moments("{kind: ddp}", {{"optimizer", "adamw"}}).back().use.optimizer_state ==
        Bytes{12 * parameters});
  CHECK(moments("{kind: ddp}").back().use.optimizer_state == Bytes{8 * parameters});
  // The second micro-batch meets the gradients of the first, which DDP keeps beside its buckets.
  CHECK(moments("{kind: ddp}").front().use.gradients == 0_B);
  CHECK(moments("{kind: ddp}", {{"job.accumulate", "2"}}).front().use.gradients == Bytes{4 * parameters});
  const auto view = moments("{kind: ddp, gradient_as_bucket_view: true}", {{"job.accumulate", "2"}});
  CHECK(view.front().use.gradients == 0_B);
  CHECK(view.front().use.buckets == Bytes{4 * parameters});
}

TEST_CASE("strategies hold the buckets and the parameters that their settings say", "[memory]") {
  const double parameters = parameters_of(gpt("{kind: ddp}"));
  const auto buckets = [](const std::string& strategy) { return memory_of(gpt(strategy)).buckets; };
  CHECK(buckets("{kind: zero, stage: 2, overlap_comm: true, reduce_bucket_size: 1000000}") ==
        2 * buckets("{kind: zero, stage: 2, overlap_comm: false, reduce_bucket_size: 1000000}"));
  CHECK(buckets("{kind: distributed_optimizer}") == Bytes{4 * parameters});
  const auto live = [](const char* most) {
    return memory_of(gpt(std::string{"{kind: zero, stage: 3, "
                                     "max_live_parameters: "} +
                         most + "}"))
        .gathered;
  };
  CHECK(live("200000000") - live("150000000") == Bytes{2 * 50e6});
  const auto offloaded =
      memory_of(gpt("{kind: zero, stage: 3, offload_optimizer: true, offload_param: true}"));
  CHECK(offloaded.parameters == 0_B);
  CHECK(offloaded.optimizer_state == 0_B);
  CHECK(memory_of(gpt("{kind: zero, stage: 1, offload_optimizer: true}")).optimizer_state == 0_B);
}

TEST_CASE("the graph of a step keeps the peak of its passes for the optimizer's step", "[memory]") {
  const auto last = [](const char* graphs) {
    const auto scenario = gpt("{kind: none}", {{"job.gpus", "1"}, {"job.cuda_graphs", graphs}});
    return memory_over_step(scenario, compute_costs(scenario)).front().back().use;
  };
  const auto eager = last("none");
  const auto captured = last("step");
  const auto peak = memory_of(gpt("{kind: none}", {{"job.gpus", "1"}}));
  CHECK(eager.activations == 0_B);
  CHECK(captured.activations + captured.gradients == peak.activations + peak.gradients);
  CHECK(last("layers").activations > Bytes{4 * 24 * block});  // gradients that the graphs of blocks write
  CHECK(peak.slack == 0.05 * peak.allocated());
}
