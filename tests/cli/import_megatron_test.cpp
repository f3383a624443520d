// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

using namespace gradway::testing;
using Catch::Matchers::Contains;

namespace {

const std::string shape =
    "--num-layers 24 --hidden-size 2304 --num-attention-heads 24 --seq-length 2048 --vocab-size 50257 ";
const std::string batch = "--micro-batch-size 1 ";

struct Desk {
  TemporaryFolder folder;

  Outcome run(const std::vector<std::string>& arguments) const {
    return run_gradway(arguments, {.folder = folder.path()});
  }
  Outcome import(const std::string& text, std::vector<std::string> options = {"--gpus", "8"},
                 const std::string& file = "job.sh") const {
    folder.write(file, text);
    options.insert(options.begin(), {"import", "megatron", file, "--platform", "dgx-h100"});
    return run(options);
  }
};

}  // namespace

TEST_CASE("a script of Megatron-LM becomes a scenario and a model that run", "[cli][import]") {
  const Desk desk;
  const auto outcome =
      desk.run({"import", "megatron", std::string{GRADWAY_SOURCE_DIR} + "/tests/readers/data/megatron-gpt.sh",
                "--platform", "dgx-h100", "-o", "scenarios/mine.yaml"});
  CHECK(outcome.status == 0);
  CHECK(outcome.output == "scenarios/mine.yaml\nscenarios/models/mine_model.yaml\n");
  CHECK_THAT(outcome.errors, Contains("megatron-gpt.sh") && !Contains("fp8"));
  CHECK(content_of(desk.folder.path() / "scenarios/mine.yaml") ==
        R"(# Settings of Megatron-LM's file that this scenario cannot express, and what the file lacks:
# - micro_batch_size 2 occurs again with another value: the last one is used, as in Megatron-LM
# - rampup_batch_size 16: gradway's step has global_batch_size samples, as after the ramp-up
# - sequence_paralel true: unknown key, which gradway ignores; did you mean 'sequence_parallel'?
schema: 1
source: >-
  Megatron-LM's settings in megatron-gpt.sh
model: mine_model
platform: dgx-h100
job:
  gpus: 32
  batch_per_gpu: 1
  precision: fp8
  fp8_recipe: delayed
  accumulate: 32
  framework: megatron
  recompute: selective
  clip_grad_norm: true
strategy:
  kind: distributed_optimizer
  overlap_grad_reduce: true
parallel:
  tensor: 4
  pipeline: 2
  virtual: 2
  schedule: interleaved
optimizer: adamw_fused
)");
  CHECK(content_of(desk.folder.path() / "scenarios/models/mine_model.yaml") == R"(schema: 1
source: >-
  Megatron-LM's settings in megatron-gpt.sh
kind: decoder
layers: 24
heads: 24
hidden: 2304
sequence: 2048
vocabulary: 50257
pad_vocabulary_to: 512
tied_output: true
position_rows: 2048
mlp: 9216
dropout: true
)");
  CHECK_THAT(desk.run({"show", "model", "scenarios/models/mine_model.yaml"}).output,
             Contains("1,651,051,008 in"));
  const auto run = desk.run({"run", "scenarios/mine.yaml"});
  CHECK(run.status == 0);
  CHECK_THAT(run.output, Contains("batch        1 per replica x 32 micro-batches, 128 per step"));
}

TEST_CASE("shapes of Megatron-LM have the parameters that are published of them", "[cli][import]") {
  using Row = std::pair<std::string, std::string>;
  const auto [arguments, parameters] = GENERATE(values<Row>({
      // Llama 3 8B
      {"--num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32 "
       "--group-query-attention --num-query-groups 8 --kv-channels 128 --seq-length 8192 --swiglu "
       "--position-embedding-type rope --normalization RMSNorm --untie-embeddings-and-output-weights "
       "--disable-bias-linear --vocab-size 128256",
       "8,030,261,248"},
      // Mixtral 8x7B
      {"--num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32 "
       "--group-query-attention --num-query-groups 8 --seq-length 4096 --swiglu --no-position-embedding "
       "--position-embedding-type rope --normalization RMSNorm --untie-embeddings-and-output-weights "
       "--disable-bias-linear --vocab-size 32000 --num-experts 8 --moe-router-topk 2",
       "46,702,792,704"},
      // Qwen2.5 7B
      {"--num-layers 28 --hidden-size 3584 --ffn-hidden-size 18944 --num-attention-heads 28 "
       "--group-query-attention --num-query-groups 4 --seq-length 4096 --swiglu --add-qkv-bias "
       "--position-embedding-type rope --normalization RMSNorm --untie-embeddings-and-output-weights "
       "--disable-bias-linear --padded-vocab-size 152064",
       "7,615,616,512"},
      // Qwen3 0.6B
      {"--num-layers 28 --hidden-size 1024 --ffn-hidden-size 3072 --num-attention-heads 16 --kv-channels 128 "
       "--group-query-attention --num-query-groups 8 --seq-length 4096 --swiglu --qk-layernorm "
       "--position-embedding-type rope --normalization RMSNorm --disable-bias-linear --padded-vocab-size "
       "151936",
       "596,049,920"},
      // DeepSeek-V3
      {"--num-layers 61 --hidden-size 7168 --ffn-hidden-size 18432 --num-attention-heads 128 --seq-length "
       "4096 --swiglu --position-embedding-type rope --normalization RMSNorm "
       "--untie-embeddings-and-output-weights --disable-bias-linear --padded-vocab-size 129280 --num-experts "
       "256 --moe-router-topk 8 --moe-ffn-hidden-size 2048 --moe-shared-expert-intermediate-size 2048 "
       "--moe-layer-freq ([0]*3+[1]*58) --moe-router-enable-expert-bias --multi-latent-attention "
       "--q-lora-rank 1536 --kv-lora-rank 512",
       "671,026,419,200"},
  }));
  const Desk desk;
  auto text = arguments;
  if (const auto at = text.find("(["); at != std::string::npos)
    text.insert(text.find(')') + 1, "'").insert(at, "'");
  const auto outcome = desk.import(text + " --micro-batch-size 1 --bf16", {"--gpus", "8", "-o", "x.yaml"});
  CHECK(outcome.errors.find("error") == std::string::npos);
  CHECK_THAT(desk.run({"show", "model", "models/x_model.yaml"}).output, Contains(parameters + " in"));
}

TEST_CASE("a shared expert of Megatron-LM may be narrower than an expert", "[cli][import]") {
  const Desk desk;
  const auto outcome = desk.import(
      shape + batch +
          "--bf16 --num-experts 8 --moe-ffn-hidden-size 1024 --moe-shared-expert-intermediate-size 512",
      {"--gpus", "8", "-o", "mine.yaml"});
  CHECK(outcome.status == 0);
  CHECK_THAT(content_of(desk.folder.path() / "models/mine_model.yaml"),
             Contains("experts: { number: 8, top_k: 2, mlp: 1024, shared: 1, shared_mlp: 512 }\n"));
}

TEST_CASE("Megatron-LM's arguments become keys of the scenario", "[cli][import]") {
  using Row = std::pair<std::string, std::string>;
  const auto [arguments, keys] = GENERATE(values<Row>({
      {"",
       "  gpus: 8\n  batch_per_gpu: 1\n  precision: fp32\n  framework: megatron\n  clip_grad_norm: true\n"
       "strategy:\n  kind: distributed_optimizer\n  shard_optimizer: false\noptimizer: adamw_fused\n"},
      {"--bf16 --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather",
       "strategy:\n  kind: distributed_optimizer\n  overlap_grad_reduce: true\n  overlap_param_gather: true\n"
       "optimizer"},
      {"--bf16 --grad-reduce-in-bf16", "  grad_reduce_dtype: bf16\n"},
      {"--fp16", "  grad_reduce_dtype: fp16\n"},
      {"--swiglu --no-bias-swiglu-fusion", "  fusions: rope\n"},
      {"--no-bias-gelu-fusion", "  fusions: rope\n"},
      {"--no-bias-swiglu-fusion --no-masked-softmax-fusion", "  framework: megatron\n  clip_grad_norm"},
      {"--swiglu --no-rope-fusion --no-bias-gelu-fusion", "  fusions: activation\n"},
      {"--no-rope-fusion --no-bias-gelu-fusion", "  fusions: none\n"},
      {"--no-gradient-accumulation-fusion", "  gradient_accumulation_fusion: false\n"},
      {"--fp16 --accumulate-allreduce-grads-in-fp32", "shard_optimizer: false\noptimizer"},
      {"--ddp-bucket-size 100000000", "  bucket_size: 1e8\n"},
      {"--global-batch-size 64", "  accumulate: 8\n"},
      {"--clip-grad 0", "  framework: megatron\nstrategy"},
      {"--optimizer sgd", "\noptimizer: sgd_momentum\n"},
      {"--deterministic-mode", "  framework: megatron\n  deterministic: true\n  clip_grad_norm: true\n"},
      {"--bf16 --optimizer muon --use-distributed-optimizer", "  tensor_owners: 8\noptimizer: muon\n"},
      {"--tensor-model-parallel-size 2 --sequence-parallel", "parallel:\n  tensor: 2\n  sequence: true\n"},
      {"--tensor-model-parallel-size 2 --no-async-tensor-model-parallel-allreduce",
       "parallel:\n  tensor: 2\n  overlap: none\n"},
      {"--pipeline-model-parallel-size 2", "parallel:\n  pipeline: 2\noptimizer"},
      {"--pipeline-model-parallel-size 2 --num-layers-per-virtual-pipeline-stage 3 --global-batch-size 16",
       "parallel:\n  pipeline: 2\n  virtual: 4\n  schedule: interleaved\n"},
      {"--pipeline-model-parallel-size 2 --num-virtual-stages-per-pipeline-rank 2 --global-batch-size 16",
       "parallel:\n  pipeline: 2\n  virtual: 2\n  schedule: interleaved\n"},
      {"--pipeline-model-parallel-size 4 --decoder-first-pipeline-num-layers 4 "
       "--decoder-last-pipeline-num-layers 6 --global-batch-size 16",
       "parallel:\n  pipeline: 4\n  stage_layout: Et*4|(t*7|)*2t*6L\n"},
      {"--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout 'Et*5|t*7|t*6|t*6L' "
       "--global-batch-size 16",
       "parallel:\n  pipeline: 2\n  virtual: 2\n  stage_layout: Et*5|t*7|t*6|t*6L\n  schedule: "
       "interleaved\n"},
      {"--context-parallel-size 2", "parallel:\n  context: 2\n  context_method: ring\n"},
      {"--context-parallel-size 2 --cp-comm-type a2a",
       "parallel:\n  context: 2\n  context_method: all_to_all\n"},
      {"--num-experts 8 --moe-router-topk 2 --expert-model-parallel-size 4", "parallel:\n  expert: 4\n"},
      // Without a word each expert is shared as all else is.
      {"--num-experts 8 --moe-router-topk 2 --expert-model-parallel-size 4 --tensor-model-parallel-size 2 "
       "--sequence-parallel",
       "parallel:\n  tensor: 2\n  sequence: true\n  expert: 4\n  expert_tensor: 2\n"},
      {"--num-experts 8 --moe-router-topk 2 --expert-model-parallel-size 2 --moe-expert-capacity-factor 1.25 "
       "--moe-pad-expert-input-to-capacity",
       "parallel:\n  expert: 2\n  expert_capacity_factor: 1.25\n"},
      {"--tensor-model-parallel-size 2 --use-tp-pp-dp-mapping", "  order: tp-cp-ep-pp-dp\n"},
      {"--recompute-activations", "  recompute: selective\n"},
      {"--recompute-granularity selective --recompute-modules moe_act layernorm",
       "  recompute_modules: 'layernorm, moe_act'\n"},
      {"--recompute-granularity selective --recompute-modules [mlp]", "  recompute_modules: 'mlp'\n"},
      {"--fine-grained-activation-offloading --offload-modules [core_attn attn_proj]",
       "  offload_activations: 'core_attn, attn_proj'\n"},
      {"--offload-modules core_attn", "  framework: megatron\n  clip_grad_norm"},
      {"--bf16 --use-megatron-fsdp --overlap-param-gather --num-distributed-optimizer-instances 2",
       "strategy:\n  kind: fsdp\n  megatron_fsdp: true\n  param_dtype: bf16\nparallel:\n  replicate: 2\n"},
      {"--bf16 --use-megatron-fsdp --data-parallel-sharding-strategy optim_grads "
       "--megatron-fsdp-main-grads-dtype fp32",
       "  megatron_fsdp: true\n  param_dtype: bf16\n  reduce_dtype: fp32\n  reshard_after_forward: false\n"},
      {"--bf16 --use-megatron-fsdp --data-parallel-sharding-strategy no_shard",
       "  kind: distributed_optimizer\n  shard_optimizer: false\n"},
      {"--bf16 --use-distributed-optimizer --use-megatron-fsdp --data-parallel-sharding-strategy optim",
       "strategy:\n  kind: distributed_optimizer\noptimizer"},
      {"--recompute-granularity full --recompute-method uniform --recompute-num-layers 1",
       "  recompute: full\n"},
      {"--bf16 --use-flash-attn", "  attention: flash\n"},
      {"--bf16 --attention-backend fused", "  attention: cudnn\n"},
      {"--attention-backend unfused", "  attention: math\n"},
      // Without Transformer Engine, separate kernels compute the scores and keep them.
      {"--bf16 --transformer-impl local --attention-backend flash", "  attention: math\n"},
      {"--cross-entropy-loss-fusion --cross-entropy-fusion-impl te", "  fused_loss: true\n"},
      {"--cross-entropy-loss-fusion --clip-grad 0", "  framework: megatron\nstrategy"},
      {"--expert-tensor-parallel-size 2", "  shard_optimizer: false\noptimizer"},
      {"--multi-latent-attention", "positions: rotary\n"},
      // as in YAML of Megatron-LM's tests, without the quotes that a shell needs
      {"--num-experts 8 --moe-layer-freq ([0]*3 + [1]*21) --bf16", "dense_layers: 3"},
      {"--hidden-dropout 0 --attention-dropout 0", "mlp: 9216\n---\n"},
      {"--hidden-dropout 0.1", "mlp: 9216\ndropout: true\n---\n"},
      {"--swiglu", "activation: swiglu\nmlp: 6144\n"},
      {"--tensor-model-parallel-size 4", "vocabulary: 50257\npad_vocabulary_to: 512\n"},
      {"--position-embedding-type rope --rotary-percent 0.5", "positions: rotary\nrotary_size: 48\n"},
      {"--max-position-embeddings 4096", "position_rows: 4096\n"},
  }));
  CAPTURE(arguments);
  const Desk desk;
  const auto outcome = desk.import(shape + batch + arguments);
  CHECK_THAT(outcome.output, Contains(keys));
  CHECK(outcome.status == 0);
}

TEST_CASE("Megatron-LM's arguments are found however a script writes them", "[cli][import]") {
  const auto text = GENERATE(values<std::string>({
      shape + batch + "--global-batch-size 32",
      shape + "\\\n  --micro-batch-size=1 \\\n--global-batch-size 32",
      "GBS=32\nARGS=(" + shape +
          "\n# --global-batch-size 64\n  --global-batch-size $GBS)\nrun \"${ARGS[@]}\" " + batch,
      "N=3\nARGS=\"" + shape + "\\\n --global-batch-size ${N}2\"\ntorchrun pretrain_gpt.py $ARGS " + batch,
      shape + batch + "--global_batch_size \"${GBS:-32}\" --bf16; echo done",
      "ARGS+=('--global-batch-size 32' \"--seed 5\")\n" + shape + batch,
  }));
  CAPTURE(text);
  const Desk desk;
  CHECK_THAT(desk.import(text).output, Contains("accumulate: 4\n"));
}

TEST_CASE("Megatron-LM's arguments may be YAML", "[cli][import]") {
  const Desk desk;
  const auto outcome = desk.import(
      "# arguments\nlanguage_model:\n  num_layers: 24   # blocks\n  hidden_size: 2304\n  "
      "num-attention-heads: 24\n"
      "seq_length: 2048\nvocab_size: 50257\nmicro_batch_size: 1\nbf16: True\nffn_hidden_size: null\n"
      "optimizer: 'sgd'\nworld_size: 8\n",
      {}, "job.yaml");
  CHECK_THAT(outcome.output, Contains("  gpus: 8\n  batch_per_gpu: 1\n  precision: bf16\n") &&
                                 Contains("optimizer: sgd_momentum\n") && Contains("mlp: 9216\n"));
}

TEST_CASE("arguments of Megatron-LM that gradway cannot simulate are listed", "[cli][import]") {
  using Row = std::pair<std::string, std::string>;
  const auto [arguments, note] = GENERATE(values<Row>({
      {"--context-parallel-size 2 --cp-comm-type a2a+p2p",
       "cp_comm_type \"a2a+p2p\": gradway has one method for all ranks: a ring without all-to-alls is "
       "assumed\n"},
      {"--num-experts 8 --moe-expert-capacity-factor 1.5",
       "moe_expert_capacity_factor 1.5: gradway pads the rows of each expert to its capacity\n"},
      {"--bf16 --fp8-format hybrid --fp8-recipe custom",
       "fp8_recipe \"custom\": gradway does not know this recipe: tensorwise is assumed\n"},
      {"--fp16 --fp8-format e4m3", "fp8_format \"e4m3\": gradway combines fp8 with bf16, not with fp16\n"},
      {"--sequence-paralel",
       "sequence_paralel true: unknown key, which gradway ignores; did you mean "
       "'sequence_parallel'?\n"},
      {"--seed 1 --seed 2",
       "seed 1 occurs again with another value: the last one is used, as in Megatron-LM\n"},
      {"--attention-dropout 0",
       "dropout: 0 in attention, 0.1 elsewhere; gradway has both or none, and both are assumed\n"},
      {"--multi-latent-attention",
       "positions: gradway has no learned positions beside those of latent attention\n"},
      {"--defer-embedding-wgrad-compute",
       "defer_embedding_wgrad_compute true: gradway multiplies for the output layer's weight gradient at "
       "once, and keeps no gradients of logits\n"},
      {"--fine-grained-activation-offloading --offload-modules fused_group_mlp",
       "offload_modules \"fused_group_mlp\": gradway does not offload 'fused_group_mlp'\n"},
      {"--transformer-impl local",
       "transformer_impl \"local\": gradway has Transformer Engine's kernels for all layers but attention\n"},
      {"--optimizer adafactor",
       "optimizer \"adafactor\": gradway does not support this optimizer, so sgd is assumed; set 'optimizer: "
       "adamw_fused' in the scenario\n"},
  }));
  CAPTURE(arguments);
  const Desk desk;
  CHECK_THAT(desk.import(shape + batch + arguments).errors, Contains(note));
}

TEST_CASE("contradictory arguments of Megatron-LM are refused", "[cli][import][errors]") {
  struct Row {
    std::string text;
    std::string errors;
  };
  const auto row = GENERATE(values<Row>({
      {"echo\n",
       "job.sh: error: the file has no arguments\n  hint: give a command line or a script with arguments "
       "such "
       "as --num-layers 24, or their YAML\n"},
      {"--num-layers 24 '",
       "job.sh:1:17: error: missing closing quote\n    1 | --num-layers 24 '\n      |                 ^\n"
       "  hint: add the missing quote\n"},
      {shape + "--micro-batch-size many",
       "job.sh:1:117: error: invalid value \"many\" for 'micro_batch_size'\n"},
      {shape + batch + "\n--global-batch-size 12",
       "job.sh:2:21: error: 12 samples per step are not divisible by 1 on each of 8 data-parallel ranks\n"
       "    2 | --global-batch-size 12\n      |                     ^~\n"
       "  hint: Megatron-LM requires global-batch-size = micro-batch-size x data-parallel ranks x "
       "micro-batches\n"},
      {shape + batch + "\n--tensor-model-parallel-size 3",
       "job.sh:2:30: error: 8 GPUs are not divisible by the 3 that hold one copy of the model\n"},
      {shape + batch + "\n--nnodes 2 --nproc-per-node 8",
       "job.sh:2:29: error: the file has 16 GPUs, but --gpus is 8\n"},
      {shape + batch + "\n--pipeline-model-parallel-size 2 --num-layers-per-virtual-pipeline-stage 5",
       "job.sh:2:74: error: 24 layers are not divisible by 2 stages of 5 layers\n"},
      {shape + batch + "\n--pipeline-model-parallel-size 4 --decoder-first-pipeline-num-layers 4",
       "job.sh:2:70: error: 20 layers are not divisible by the 3 other stages\n"},
      {shape + batch + "\n--position-embedding-type relative",
       "job.sh:2:27: error: gradway does not support positions 'relative'\n"},
      {shape + batch +
           "--use-torch-fsdp2 --num-layers 24 --kv-channels 90 --position-embedding-type rope "
           "--rotary-percent 2 --tensor-model-parallel-size 8 --num-attention-heads 12",
       "job.sh: error: the scenario made from this input is invalid: parallel.tensor 8 does not divide the "
       "12 heads of the model 'x_model'\n"},
      {"--num-layers 24\n",
       "job.sh: error: the file has no '--hidden-size'\n  hint: Megatron-LM requires it\n"},
  }));
  CAPTURE(row.text);
  const Desk desk;
  const auto outcome = desk.import(row.text, {"--gpus", "8", "-o", "x.yaml"});
  CHECK(outcome.status == 2);
  CHECK(outcome.output.empty());
  CHECK(outcome.errors.substr(0, row.errors.size()) == row.errors);
  CHECK(!std::filesystem::exists(desk.folder.path() / "x.yaml"));
}

TEST_CASE("a model of one's own takes the place of Megatron-LM's shape", "[cli][import]") {
  const Desk desk;
  const auto outcome = desk.import(shape + batch, {"--gpus", "8", "--model", "megatron_1b7", "-o", "x.yaml"});
  CHECK(outcome.output == "x.yaml\n");
  CHECK(!std::filesystem::exists(desk.folder.path() / "models"));
  CHECK_THAT(content_of(desk.folder.path() / "x.yaml"),
             Contains("model: megatron_1b7\n") && Contains("  sequence: 2048\n"));
}

TEST_CASE("Megatron's CUDA graphs are those of the scenario", "[cli][import]") {
  const Desk desk;
  const auto graphs = [&](const std::string& arguments) {
    const auto outcome = desk.import(shape + batch + arguments);
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    const auto at = outcome.output.find("cuda_graphs: ");
    const auto found = at == std::string::npos
                           ? ""
                           : outcome.output.substr(at + 13, outcome.output.find('\n', at) - at - 13);
    return found +
           (outcome.errors.find("gradway captures whole layers") != std::string::npos ? ", noted" : "");
  };
  CHECK(graphs("").empty());
  CHECK(graphs("--cuda-graph-impl none --cuda-graph-modules attn ").empty());
  CHECK(graphs("--enable-cuda-graph ") == "layers");
  CHECK(graphs("--external-cuda-graph ") == "layers");
  CHECK(graphs("--cuda-graph-impl transformer_engine ") == "layers");
  CHECK(graphs("--cuda-graph-impl local --cuda-graph-scope full ") == "layers");
  CHECK(graphs("--cuda-graph-impl transformer_engine --cuda-graph-modules attn mlp ") == "layers");
  CHECK(graphs("--cuda-graph-impl transformer_engine --cuda-graph-scope attn ") == "layers, noted");
  CHECK(graphs("--cuda-graph-impl local --cuda-graph-scope full_iteration ") == "step");
  CHECK(graphs("--cuda-graph-impl full_iteration --cuda-graph-warmup-steps 2 ") == "step");

  const std::string experts = "--num-experts 8 --expert-model-parallel-size 8 --cuda-graph-impl local ";
  CHECK(graphs(experts + "--cuda-graph-modules attn moe_router moe_preprocess ") == "layers");
  CHECK(graphs(experts + "--cuda-graph-modules attn,moe_router,moe_preprocess ") == "layers");
  CHECK(graphs(experts + "--cuda-graph-modules [attn moe_router moe_preprocess] ") == "layers");
  CHECK(graphs(experts + "--cuda-graph-scope attn ") == "layers, noted");
  CHECK_THAT(
      desk.import(shape + batch + experts + "--cuda-graph-scope moe_router moe_preprocess").errors,
      Contains("cuda_graph_scope \"moe_router moe_preprocess\": gradway does not capture a part of a layer "
               "without attention or MLP: nothing is captured\n"));
}

TEST_CASE("CUDA graphs that Megatron-Core refuses are refused", "[cli][import][errors]") {
  using Row = std::tuple<std::string, std::string, std::string>;
  const auto [arguments, what, hint] = GENERATE(values<Row>({
      {"--cuda-graph-impl te", "invalid implementation of CUDA graphs 'te'",
       "known: none, local, transformer_engine, full_iteration"},
      {"--cuda-graph-impl local --cuda-graph-modules atn", "invalid module 'atn' to capture",
       "did you mean 'attn'?"},
      {"--cuda-graph-impl full_iteration --cuda-graph-modules attn",
       "modules are captured one by one or in the graph of the whole iteration",
       "leave them out, as Megatron-Core requires with full_iteration"},
      {"--enable-cuda-graph --external-cuda-graph", "enable_cuda_graph and external_cuda_graph are both set",
       "Megatron-Core accepts only one of them"},
      {"--enable-cuda-graph --cuda-graph-impl local", "cuda_graph_impl is set and enable_cuda_graph, too",
       "Megatron-Core accepts only one of them"},
  }));
  CAPTURE(arguments);
  const Desk desk;
  const auto outcome = desk.import(shape + batch + arguments);
  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.errors, Contains("error: " + what + "\n") && Contains("  hint: " + hint + "\n"));
}

TEST_CASE(
    "a run of Megatron-LM's tests holds what they recorded between steps, in the first and in later steps",
    "[cli][import][validation]") {
  // @source NVIDIA/Megatron-LM d98e8a64dd, functional_tests/test_cases/gpt/gpt3_7b_tp4_pp1_memory_speed:
  // 20,663,519,232 bytes after a step; at most 50.29 GB in step 1 and 57,143,791,616 bytes from step 2 on
  const Desk desk;
  const auto imported = desk.import(
      "pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --group-query-attention "
      "--num-query-groups 8 --untie-embeddings-and-output-weights --micro-batch-size 2 --global-batch-size 8 "
      "--seq-length 8192 --max-position-embeddings 8192 --tokenizer-type NullTokenizer --vocab-size 131073 "
      "--clip-grad 1.0 --transformer-impl transformer_engine --tensor-model-parallel-size 4 "
      "--use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather --deterministic-mode "
      "--no-gradient-accumulation-fusion --use-mcore-models --bf16\n",
      {"--gpus", "8", "-o", "mine.yaml"});
  REQUIRE(imported.status == 0);
  const auto run = nlohmann::json::parse(desk.run({"run", "mine.yaml", "--json"}).output);
  const auto& parts = run["peak_of_run"]["allocated_bytes_by_part"];
  CHECK(parts["checkpoint"].get<double>() == Approx(20663519232).epsilon(0.002));
  CHECK(parts["first_step"].get<double>() == Approx(50.29e9).epsilon(0.01));
  CHECK(parts["step"].get<double>() == Approx(57143791616).epsilon(0.01));
  CHECK(run["peak_of_run"]["part"] == "step");
}
