// SPDX-License-Identifier: Apache-2.0
// YAML and scripts of Hugging Face's Trainer and of the programs on top of it: `gradway import trainer`.
#include <catch2/catch.hpp>

#include "tests/cli/trainer_desk.hpp"

using namespace gradway::testing;
using Catch::Matchers::Contains;

namespace {

Outcome imported(const Desk& desk, const std::string& text, const std::vector<std::string>& options = {},
                 const std::string& name = "job.yaml") {
  desk.folder.write(name, text);
  return desk.run(with({"import", "trainer", name, "--platform", "h200-4x", "--gpus", "4"}, options));
}

const std::string trl = R"(model_name_or_path: Qwen/Qwen3-8B
max_length: 8192
per_device_train_batch_size: 2
bf16: true
)";

}  // namespace

TEST_CASE("YAML of LLaMA-Factory becomes a scenario that runs", "[cli][import]") {
  const Desk desk;
  const auto outcome = imported(desk, R"(### model
model_name_or_path: meta-llama/Meta-Llama-3-8B-Instruct
trust_remote_code: true
stage: sft
finetuning_type: full
deepspeed: examples/deepspeed/ds_z3_config.json  # choices: [ds_z0_config.json, ds_z2_config.json]
dataset: identity,alpaca_en_demo
cutoff_len: 2048
per_device_train_batch_size: 1
gradient_accumulation_steps: 2
learning_rate: 1.0e-5
bf16: true
)",
                                {"-o", "mine.yaml"});
  CHECK(outcome.status == 0);
  CHECK_THAT(content_of(desk.folder.path() / "mine.yaml"), Catch::EndsWith(R"(schema: 1
source: >-
  LLaMA-Factory's settings in job.yaml
model: llama3_8b
platform: h200-4x
job:
  gpus: 4
  batch_per_gpu: 1
  precision: bf16
  accumulate: 2
  sequence: 2048
  implementation: huggingface
  framework: deepspeed
  recompute: full
  clip_grad_norm: true
strategy:
  kind: zero
  stage: 3
optimizer: adamw
)") && Contains("so stage 3 is taken from its"));
  CHECK(desk.run({"run", "mine.yaml"}).status == 0);
}

TEST_CASE("DeepSpeed's file beside a trainer's gives the strategy", "[cli][import]") {
  const Desk desk;
  desk.folder.write("ds.json", R"({
  "bf16": {"enabled": "auto"},
  "train_micro_batch_size_per_gpu": "auto",
  "train_batch_size": "auto",
  "gradient_accumulation_steps": "auto",
  "gradient_clipping": "auto",
  "zero_optimization": {"stage": 2, "reduce_bucket_size": 2e8}
})");
  const auto outcome = imported(desk, trl + "deepspeed: ds.json\ngradient_accumulation_steps: 8\n");
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.output,
             Contains("  batch_per_gpu: 2\n  precision: bf16\n  accumulate: 8\n") &&
                 Contains("  framework: deepspeed\n") && Contains("  kind: zero\n  stage: 2\n") &&
                 Contains("  reduce_bucket_size: 2e8\n") && Contains("optimizer: adamw_fused\n"));
}

TEST_CASE("axolotl's adapters and FSDP are read", "[cli][import]") {
  const Desk desk;
  const auto outcome = imported(desk, R"(base_model: NousResearch/Meta-Llama-3.1-8B
datasets:
  - path: mlabonne/FineTome-100k
    split: train[:20%]
adapter: qlora
lora_r: 32
lora_dropout: 0.05
lora_target_modules: [q_proj, v_proj]
sequence_len: 4096
sample_packing: true
micro_batch_size: 2
optimizer: adamw_bnb_8bit
bf16: auto
gradient_checkpointing: true
flash_attention: true
)");
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.output, Contains("axolotl's settings in job.yaml\nmodel: llama3_8b\n") &&
                                 Contains("  batch_per_gpu: 2\n  precision: bf16\n") &&
                                 Contains("  recompute: full\n  finetune: qlora\n  lora_rank: 32\n"
                                          "  lora_targets: query_value\n  lora_dropout: true\n") &&
                                 Contains("strategy:\n  kind: ddp\noptimizer: adamw_8bit\n"));
  CHECK_THAT(outcome.errors, Contains("job.document_length packs several documents into one"));
}

TEST_CASE("accelerate's configuration and a trainer's are read together", "[cli][import]") {
  const Desk desk;
  desk.folder.write("accelerate.yaml", R"(compute_environment: LOCAL_MACHINE
distributed_type: FSDP
fsdp_config:
  fsdp_activation_checkpointing: true
  fsdp_reshard_after_forward: false
  fsdp_version: 2
mixed_precision: bf16
num_machines: 1
num_processes: 8
)");
  desk.folder.write("sft.yaml", trl);
  const auto outcome =
      desk.run({"import", "trainer", "accelerate.yaml", "sft.yaml", "--platform", "dgx-h100"});
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.output, Contains("model: qwen3_8b\n") && Contains("  gpus: 8\n  batch_per_gpu: 2\n") &&
                                 Contains("  recompute: full\n") &&
                                 Contains("strategy:\n  kind: fsdp\n  reshard_after_forward: false\n"
                                          "  param_dtype: bf16\n  reduce_dtype: bf16\n"));
}

TEST_CASE("words of trainers have gradway's names", "[cli][import]") {
  using Row = std::pair<std::string, std::string>;
  const auto [settings, line] = GENERATE(values<Row>({
      {"attn_implementation: flash_attention_2", "  attention: flash\n"},
      {"attn_implementation: eager", "  attention: composed\n"},
      {"use_liger_kernel: true", "  fused_loss: true\n"},
      {"torch_compile: true", "  compile: true\n"},
      {"optim: paged_adamw_8bit", "optimizer: paged_adamw_8bit\n"},
      {"optim: adamw_torch", "optimizer: adamw\n"},
      {"dtype: bfloat16", "  state_dtype: bf16\n"},
      {"use_peft: true", "  finetune: lora\n  lora_rank: 8\n  lora_targets: query_value\n"},
      {"use_peft: true\nlora_target_modules: all-linear\nlora_r: 16", "  finetune: lora\n  lora_rank: 16\n"},
      {"use_peft: true\nload_in_4bit: true", "  finetune: qlora\n"},
      {"ddp_bucket_cap_mb: 100", "  bucket_cap: 100 MiB\n"},
      {"fsdp: full_shard auto_wrap", "  kind: fsdp1\n"},
      {"fsdp: shard_grad_op", "  sharding_strategy: shard_grad_op\n"},
      {"gradient_checkpointing: on", "  recompute: full\n"},
  }));
  CAPTURE(settings);
  const Desk desk;
  const auto outcome = imported(desk, trl + settings + "\n");
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.output, Contains(line));
}

TEST_CASE("a file of TRL has the precision, the length and the checkpointing that are TRL's defaults",
          "[cli][import]") {
  const Desk desk;
  const std::string file = "model_name_or_path: Qwen/Qwen3-8B\ncompletion_only_loss: true\n";
  const auto outcome = imported(desk, file + "attn_implementation: flash_attention_2\n");
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.output, Contains("TRL's settings in job.yaml\n") &&
                                 Contains("  batch_per_gpu: 8\n  precision: bf16\n  sequence: 1024\n") &&
                                 Contains("  recompute: full\n"));
  CHECK_THAT(outcome.errors, Contains("bf16: true, the default of TRL"));
  const auto written = imported(desk, file + "bf16: false\ngradient_checkpointing: false\n");
  CHECK_THAT(written.output, Contains("  precision: fp32\n") && !Contains("recompute"));
}

TEST_CASE("settings of Lightning, litgpt and torchtune are read", "[cli][import]") {
  const Desk desk;
  CHECK_THAT(
      imported(
          desk,
          "seed_everything: 42\ntrainer:\n  accelerator: gpu\n  strategy: ddp_find_unused_parameters_true\n"
          "  devices: 4\n  precision: bf16-mixed\n  accumulate_grad_batches: 2\n  gradient_clip_val: 1.0\n"
          "model:\n  class_path: my.LitModel\ndata:\n  init_args: {batch_size: 32}\n",
          {"--model", "resnet50"})
          .output,
      Contains("  gpus: 4\n  batch_per_gpu: 32\n  precision: bf16\n  accumulate: 2\n") &&
          Contains("  clip_grad_norm: true\n") && Contains("  find_unused_parameters: true\n") &&
          Contains("optimizer: adamw\n"));
  const auto by_class = [&](const std::string& name, const std::string& arguments) {
    return imported(desk,
                    "trainer:\n  devices: 8\n  precision: bf16-mixed\n  strategy:\n    class_path: "
                    "lightning.pytorch.strategies." +
                        name + "\n    init_args: {" + arguments +
                        "}\ndata:\n  class_path: my.Data\n  init_args: {batch_size: 32}\n",
                    {"--model", "gpt2"});
  };
  CHECK_THAT(by_class("FSDPStrategy", "sharding_strategy: SHARD_GRAD_OP, cpu_offload: true").output,
             Contains("  kind: fsdp\n  reshard_after_forward: false\n") && Contains("  cpu_offload: true\n"));
  CHECK_THAT(by_class("DeepSpeedStrategy", "stage: 3, offload_optimizer: true").output,
             Contains("  kind: zero\n  stage: 3\n  offload_optimizer: true\n"));
  CHECK_THAT(by_class("DDPStrategy", "find_unused_parameters: true").output,
             Contains("  kind: ddp\n  find_unused_parameters: true\n"));
  CHECK_THAT(by_class("XLAStrategy", "").errors,
             Contains("strategy xlastrategy: gradway does not know it and takes DDP"));
  CHECK_THAT(
      imported(desk,
               "checkpoint_dir: checkpoints/meta-llama/Llama-3.2-1B\nprecision: bf16-true\ndevices: 4\n"
               "train:\n  global_batch_size: 16\n  micro_batch_size: 2\n  max_seq_length: 1024\n")
          .output,
      Contains("model: llama3_2_1b\n") && Contains("  batch_per_gpu: 2\n") &&
          Contains("  state_dtype: bf16\n  global_batch: 16\n  sequence: 1024\n"));
  CHECK_THAT(
      imported(desk,
               "tokenizer:\n  _component_: torchtune.models.llama3.llama3_tokenizer\n  max_seq_len: 4096\n"
               "model:\n  _component_: torchtune.models.llama3_1.llama3_1_8b\nbatch_size: 2\n"
               "optimizer:\n  _component_: torch.optim.AdamW\n  fused: True\ndtype: bf16\n"
               "enable_activation_checkpointing: True\nclip_grad_norm: null\ndevice: cuda\n")
          .output,
      Contains("model: llama3_8b\n") && Contains("  sequence: 4096\n  recompute: full\n") &&
          !Contains("clip_grad_norm"));
}

TEST_CASE("adapters, losses and optimizers of torchtune and litgpt become keys", "[cli][import]") {
  const Desk desk;
  const std::string recipe =
      "batch_size: 2\ntokenizer:\n  max_seq_len: 2048\ncompile: True\ndtype: bf16\n"
      "loss:\n  _component_: torchtune.modules.loss.CEWithChunkedOutputLoss\n"
      "enable_activation_checkpointing: True\nenable_activation_offloading: True\n";
  const std::string adapters =
      "_llama3_1_8b\n  lora_attn_modules: ['q_proj', 'v_proj', 'output_proj']\n"
      "  lora_rank: 16\n  apply_lora_to_mlp: ";
  const auto model = std::string{"model:\n  _component_: torchtune.models.llama3_1."};
  CHECK_THAT(imported(desk, recipe + model + "lora" + adapters + "True\n").output,
             Contains("  compile: true\n  fused_loss: true\n  recompute: full\n  offload_activations: all\n"
                      "  finetune: lora\n  lora_rank: 16\nstrategy"));
  CHECK_THAT(imported(desk, recipe + model + "qlora" + adapters + "False\n").output,
             Contains("  finetune: qlora\n  lora_rank: 16\n  lora_targets: attention\nstrategy"));
  CHECK_THAT(imported(desk, recipe + model +
                                "llama3_1_8b\noptimizer:\n  _component_: bitsandbytes.optim.PagedAdamW8bit\n"
                                "optimizer_in_bwd: True\n")
                 .output,
             Contains("  optimizer_in_backward: true\n") && Contains("  state_dtype: bf16\n") &&
                 Contains("strategy:\n  kind: fsdp\noptimizer: paged_adamw_8bit\n"));
  const std::string litgpt =
      "checkpoint_dir: checkpoints/meta-llama/Llama-3.2-1B\nprecision: bf16-true\n"
      "train:\n  micro_batch_size: 1\n  max_seq_length: 1024\nlora_r: 8\n"
      "lora_dropout: 0.05\nlora_query: true\nlora_key: false\nlora_value: true\n"
      "lora_projection: false\nlora_mlp: false\nquantize: ";
  CHECK_THAT(imported(desk, litgpt + "bnb.nf4\n").output,
             Contains("  finetune: qlora\n  lora_rank: 8\n  lora_targets: query_value\n  lora_dropout: true\n"
                      "  double_quant: false\n"));
  CHECK_THAT(imported(desk, litgpt + "bnb.nf4-dq\n").output,
             Contains("  finetune: qlora\n") && !Contains("double_quant"));
  CHECK_THAT(imported(desk, litgpt + "null\n").output, Contains("  finetune: lora\n"));
}

TEST_CASE("losses of TRL and Liger are computed in chunks", "[cli][import]") {
  const Desk desk;
  CHECK_THAT(imported(desk, trl + "loss_type: chunked_nll\n").output,
             Contains("  loss_chunk: 256\n") && !Contains("fused_loss"));
  CHECK_THAT(imported(desk, trl + "use_liger_kernel: true\n").output,
             Contains("  fused_loss: true\n") && Contains("  loss_chunk: 512\n"));
}

TEST_CASE("tiled MLPs are read", "[cli][import]") {
  const Desk desk;
  const std::string axolotl = "base_model: Qwen/Qwen3-8B\nsequence_len: 10000\nbf16: true\ntiled_mlp: true\n";
  CHECK_THAT(imported(desk, axolotl).output, Contains("  mlp_tiles: 3\n"));
  CHECK_THAT(imported(desk, axolotl + "tiled_mlp_num_shards: 8\n").output, Contains("  mlp_tiles: 8\n"));
  CHECK_THAT(
      imported(desk, "swift sft --model Qwen/Qwen3-8B --train_type full --use_tiled_mlp true\n", {}, "job.sh")
          .output,
      Contains("  mlp_tiles: 4\n"));
}

TEST_CASE("a script of a trainer is read", "[cli][import]") {
  const Desk desk;
  const auto outcome =
      imported(desk,
               "NPROC_PER_NODE=4 \\\nCUDA_VISIBLE_DEVICES=0,1,2,3 \\\nswift sft \\\n"
               "    --model Qwen/Qwen3-8B \\\n    --train_type lora \\\n    --torch_dtype bfloat16 \\\n"
               "    --per_device_train_batch_size 1 \\\n    --lora_rank 8 \\\n"
               "    --target_modules all-linear \\\n    --gradient_accumulation_steps $(expr 64 / "
               "$NPROC_PER_NODE) \\\n"
               "    --max_length 2048 \\\n    --deepspeed zero2\n",
               {}, "job.sh");
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.output,
             Contains("model: qwen3_8b\n") && Contains("  accumulate: 16\n  sequence: 2048\n") &&
                 Contains("  finetune: lora\n  lora_rank: 8\n") && Contains("  kind: zero\n  stage: 2\n"));
}

TEST_CASE("a configuration of xtuner in Python is read", "[cli][import]") {
  const Desk desk;
  const auto outcome = imported(desk, R"(# Copyright (c) OpenMMLab. All rights reserved.
import torch
from xtuner.model import SupervisedFinetune

pretrained_model_name_or_path = 'Qwen/Qwen3-8B'
max_length = 2048
pack_to_max_length = True
batch_size = 1  # per_device
accumulative_counts = 16
optim_type = AdamW
max_norm = 1  # grad clip
model = dict(
    type=SupervisedFinetune,
    llm=dict(
        type=AutoModelForCausalLM.from_pretrained,
        pretrained_model_name_or_path=pretrained_model_name_or_path,
        torch_dtype=torch.float16,
        quantization_config=dict(type=BitsAndBytesConfig, load_in_4bit=True, load_in_8bit=False)),
    lora=dict(type=LoraConfig, r=64, lora_alpha=16, lora_dropout=0.1, bias='none'))
optim_wrapper = dict(
    type=AmpOptimWrapper,
    optimizer=dict(type=optim_type, lr=2e-4),
    clip_grad=dict(max_norm=max_norm, error_if_nonfinite=False),
    accumulative_counts=accumulative_counts,
    dtype='float16')
)",
                                {}, "qlora.py");
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.output, Contains("xtuner's settings in qlora.py\nmodel: qwen3_8b\n") &&
                                 Contains("  batch_per_gpu: 1\n  precision: fp16\n  accumulate: 16\n"
                                          "  sequence: 2048\n") &&
                                 Contains("  recompute: full\n  finetune: qlora\n  lora_rank: 64\n") &&
                                 Contains("optimizer: adamw\n"));
}

TEST_CASE("what changes the step of a fine-tuning and gradway does not simulate is named", "[cli][import]") {
  const Desk desk;
  const auto warnings = [&](const std::string& line) {
    const auto outcome = imported(desk,
                                  "model_name_or_path: meta-llama/Meta-Llama-3-8B\ncutoff_len: 2048\n"
                                  "finetuning_type: full\nbf16: true\n" +
                                      line + "\n",
                                  {"--batch", "1"});
    CHECK(outcome.status == 0);
    return outcome.errors;
  };
  CHECK_THAT(warnings("use_galore: true"),
             Contains("use_galore true: gradway predicts the optimizer on whole"));
  CHECK_THAT(warnings("use_apollo: true"),
             Contains("use_apollo true: gradway predicts the optimizer on whole"));
  CHECK_THAT(warnings("use_badam: true"), Contains("use_badam true: gradway trains all parameters"));
  CHECK_THAT(warnings("use_muon: true"), Contains("use_muon true: set 'optimizer: muon' in the scenario"));
  CHECK_THAT(warnings("fp8: true"), Contains("fp8 true: set 'job.precision: fp8'"));
  CHECK_THAT(warnings("mixture_of_depths: convert"), Contains("all blocks of gradway read all tokens"));
  CHECK_THAT(warnings("stage: dpo"), Contains("gradway predicts the step of supervised training"));
  CHECK_THAT(warnings("rlhf_type: grpo"), Contains("gradway predicts the step of supervised training"));
  for (const auto* line : {"stage: pt", "stage: sft", "fp8: false", "use_galore: false"})
    CHECK_THAT(warnings(line), !Contains("gradway predicts"));
}

TEST_CASE("adapters that gradway does not know, and Megatron's settings, are refused",
          "[cli][import][errors]") {
  const Desk desk;
  CHECK_THAT(imported(desk, "finetuning_type: oft\n" + trl).errors,
             Contains("job.yaml:1:18: error: gradway does not know the adapters 'oft'") &&
                 Contains("choose lora, qlora or full"));
  CHECK_THAT(
      imported(desk, "megatron sft --model Qwen/Qwen3-8B --tensor_model_parallel_size 2\n", {}, "job.sh")
          .errors,
      Contains("error: 'tensor_model_parallel_size' is a setting of Megatron-LM") &&
          Contains("read the file with 'gradway import megatron'"));
}

TEST_CASE("functions of a configuration in Python are no configurations", "[cli][import]") {
  const Desk desk;
  const auto outcome = imported(desk, R"(import os


def _env_bool(name, default):
    return bool(int(os.environ.get(name, default)))


def build(path):
    return dict(path=path)


pretrained_model_name_or_path = 'meta-llama/Meta-Llama-3-8B'
max_length = 2048
batch_size = 1
accumulative_counts = 4
)",
                                {}, "job.py");
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.output, Contains("model: llama3_8b\n") && Contains("accumulate: 4\n"));
}

TEST_CASE("all that a trainer's file lacks is in one message", "[cli][import][errors]") {
  const Desk desk;
  desk.folder.write("accelerate.yaml", "distributed_type: MULTI_GPU\nmixed_precision: bf16\n");
  CHECK(desk.run({"import", "trainer", "accelerate.yaml"}).errors ==
        "accelerate.yaml: error: the file does not name a model\n"
        "  hint: name one with --model; 'gradway list models' lists them\n"
        "accelerate.yaml: error: the file does not name a platform\n"
        "  hint: name one with --platform; 'gradway list platforms' lists them\n"
        "accelerate.yaml: error: the file does not give the number of GPUs\n"
        "  hint: give it with --gpus\n"
        "accelerate.yaml: error: the file does not give the samples of a micro-step per GPU\n"
        "  hint: give them with --batch\n");
  CHECK_THAT(imported(desk, "model_name_or_path: my/own-model\n").errors,
             Contains("job.yaml:1:21: error: gradway ships no model 'my/own-model'\n") &&
                 Contains("make one from its config.json with 'gradway import hf'"));
  CHECK_THAT(imported(desk, trl + "finetuning_type: freeze\n").errors,
             Contains("gradway trains all parameters or adapters"));
  CHECK_THAT(imported(desk, trl + "deepspeed: my.json\n").errors,
             Contains("the stage of ZeRO is not known: there is no file 'my.json'"));
  CHECK_THAT(imported(desk, "a: [1\n").errors, Contains("job.yaml:2:1: error: invalid YAML: "));
}
