// SPDX-License-Identifier: Apache-2.0
// YAML of Megatron-Bridge and NeMo.
#include <catch2/catch.hpp>

#include "tests/cli/trainer_desk.hpp"

using namespace gradway::testing;
using Catch::Matchers::Contains;

namespace {

Outcome imported(const Desk& desk, const std::string& yaml) {
  desk.folder.write("job.yaml", yaml);
  return desk.run({"import", "megatron", "job.yaml", "--platform", "dgx-h100"});
}

}  // namespace

TEST_CASE("settings of Megatron-Bridge are Megatron-LM's under other names", "[cli][import]") {
  const Desk desk;
  desk.folder.write("run_config.yaml", R"(model:
  _target_: a.Provider
  num_layers: 32
  hidden_size: 4096
  ffn_hidden_size: 14336
  num_attention_heads: 32
  num_query_groups: 8
  seq_length: 8192
  vocab_size: 128256
  gated_linear_unit: true
  add_bias_linear: false
  normalization: RMSNorm
  position_embedding_type: rope
  share_embeddings_and_output_weights: false
  hidden_dropout: 0.0
  attention_dropout: 0.0
  num_moe_experts: null
  tensor_model_parallel_size: 2
  sequence_parallel: true
  cuda_graph_impl: transformer_engine
  cuda_graph_scope:
  - attn
  - mlp
  apply_rope_fusion: false
train:
  micro_batch_size: 1
  global_batch_size: 128
ddp:
  use_distributed_optimizer: true
  overlap_grad_reduce: true
  grad_reduce_in_fp32: false
  bucket_size: 40000000
optimizer:
  optimizer: adam
  lr: 0.0003
scheduler:
  lr_decay_style: cosine
mixed_precision: bf16_with_mxfp8_mixed
)");
  const auto outcome =
      desk.run({"import", "megatron", "run_config.yaml", "--platform", "dgx-b200", "--gpus", "8"});
  CHECK(outcome.errors.empty());
  CHECK_THAT(outcome.output, Contains(R"(layers: 32
heads: 32
hidden: 4096
sequence: 8192
vocabulary: 128256
pad_vocabulary_to: 256
tied_output: false
norm: rms_norm
bias: false
positions: rotary
kv_heads: 8
activation: swiglu
mlp: 14336
)"));
  CHECK_THAT(outcome.output, Contains(R"(job:
  gpus: 8
  batch_per_gpu: 1
  precision: fp8
  fp8_recipe: mxfp8
  accumulate: 32
  framework: megatron
  fusions: activation
  cuda_graphs: layers
  clip_grad_norm: true
strategy:
  kind: distributed_optimizer
  overlap_grad_reduce: true
  bucket_size: 4e7
  grad_reduce_dtype: bf16
parallel:
  tensor: 2
  sequence: true
optimizer: adamw_fused
)"));
}

TEST_CASE("settings of NeMo are Megatron-LM's under other names", "[cli][import]") {
  const Desk desk;
  const auto* optimizer = GENERATE("distributed_fused_adam", "mcore_distributed_optim");
  const auto outcome = imported(desk, std::string{R"(name: megatron_gpt
trainer:
  devices: 8
  num_nodes: 2
  precision: bf16-mixed
exp_manager:
  name: run
model:
  micro_batch_size: 1
  global_batch_size: 64
  encoder_seq_length: 4096
  num_layers: 32
  hidden_size: 4096
  ffn_hidden_size: 11008
  num_attention_heads: 32
  normalization: rmsnorm
  activation: fast-swiglu
  bias: False
  hidden_dropout: 0.0
  attention_dropout: 0.0
  override_vocab_size: 32000
  activations_checkpoint_granularity: selective
  enable_cuda_graph: True
  fp8: True
  fp8_hybrid: True
  data:
    data_prefix: [.5, /a]
    seq_length: ${model.encoder_seq_length}
  optim:
    name: )"} + optimizer + R"(
    betas:
    - 0.9
    - 0.98
    grad_sync_dtype: bf16
)");
  CHECK(outcome.errors.empty());
  CHECK_THAT(outcome.output,
             Contains("norm: rms_norm\nbias: false\n") && Contains("activation: swiglu\nmlp: 11008\n"));
  CHECK_THAT(outcome.output, Contains(R"(job:
  gpus: 16
  batch_per_gpu: 1
  precision: fp8
  fp8_recipe: delayed
  accumulate: 4
  framework: megatron
  recompute: selective
  cuda_graphs: layers
  clip_grad_norm: true
strategy:
  kind: distributed_optimizer
  grad_reduce_dtype: bf16
optimizer: adamw_fused
)"));
}

TEST_CASE("every style of YAML is read", "[cli][import]") {
  const Desk desk;
  const auto outcome = imported(desk, R"(# as in tests of Megatron-LM
ENV_VARS:
  CUDA_DEVICE_MAX_CONNECTIONS: 1
  NCCL_ALGO: Ring
TEST_TYPE: regular
sizes: &sizes
  '--num-layers': 24
  "--hidden-size" : 2304
MODEL_ARGS:
  <<: *sizes
  --num-attention-heads: 24
  --seq-length : 2048
  --vocab-size: 50257
  --micro-batch-size: !!int 1
  --global-batch-size: 8
  --bf16: true
  --lr-decay-style: >-
    cosine
  --data-path: |
    0.5 /data/a
    0.5 /data/b
world_size: 8
)");
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.output, Contains("layers: 24\nheads: 24\nhidden: 2304\nsequence: 2048\n") &&
                                 Contains("  gpus: 8\n  batch_per_gpu: 1\n  precision: bf16\n"));
}

TEST_CASE("variables have their defaults, switches may be digits, and no layers are recomputed",
          "[cli][import]") {
  const Desk desk;
  const auto outcome = imported(desk, R"(modules:
  pre_trainer:
    overrides:
      num_layers: 32
      hidden_size: 4096
      num_attention_heads: 32
      seq_length: ${PRIMUS_SEQ_LENGTH:4096}
      max_position_embeddings: ${PRIMUS_SEQ_LENGTH:4096}
      vocab_size: 128256
      micro_batch_size: 1
      global_batch_size: 8
      world_size: ${PRIMUS_GPUS:8}
      tensor_model_parallel_size: ${PRIMUS_TP:4}
      sequence_parallel: 1
      swiglu: 0
      recompute_granularity: null
      recompute_num_layers: 0
)");
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.output, Contains("sequence: 4096\n") && Contains("tensor: 4\n") &&
                                 Contains("sequence: true\n") && !Contains("recompute"));
}

TEST_CASE("YAML that is no map of settings is refused", "[cli][import][errors]") {
  const Desk desk;
  CHECK(imported(desk, "- attn\n").errors ==
        "job.yaml: error: this YAML is not a map of settings\n"
        "  hint: expected lines such as 'key: value'\n");
  CHECK_THAT(imported(desk, "a: 1\nb: {c: 2\n").errors, Contains("error: invalid YAML: "));
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const auto last = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    for (int copy = 1; copy < 9; ++copy) bomb += ", " + last;
    bomb += "]\n";
  }
  CHECK_THAT(imported(desk, bomb).errors, Contains("error: the file has more than "));
}

TEST_CASE("overrides of a recipe have the model that they name", "[cli][import]") {
  const Desk desk;
  const std::string overrides =
      "    overrides:\n      micro_batch_size: 2\n      global_batch_size: 128\n      seq_length: 8192\n     "
      " bf16: true\n";
  const auto outcome =
      imported(desk,
               "modules:\n  pre_trainer:\n    framework: megatron\n    config: pre_trainer.yaml\n"
               "    model: llama3.1_8B.yaml\n" +
                   overrides + "world_size: 8\n");
  CHECK(outcome.status == 0);
  CHECK(outcome.errors.empty());
  CHECK_THAT(outcome.output,
             Contains("\nmodel: llama3_8b\n") &&
                 Contains("  gpus: 8\n  batch_per_gpu: 2\n  precision: bf16\n  accumulate: 8\n"));
  CHECK(imported(desk, "modules:\n  pre_trainer:\n" + overrides + "world_size: 8\n").errors ==
        "job.yaml: error: the file does not give the sizes of a model (--num-layers and others)\n"
        "  hint: if they are in a recipe or another file, name the model with --model; 'gradway list models' "
        "lists them\n");
}
