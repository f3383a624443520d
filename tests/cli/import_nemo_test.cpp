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
  const auto outcome = imported(desk, R"(name: megatron_gpt
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
    name: distributed_fused_adam
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

TEST_CASE("a list item of YAML without a list is refused", "[cli][import][errors]") {
  const Desk desk;
  CHECK(imported(desk, "- attn\n").errors ==
        "job.yaml:1:1: error: this item belongs to no list\n    1 | - attn\n      | ^\n"
        "  hint: write the key of the list on a line above, as in 'cuda_graph_modules:'\n");
}
