// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/cli/trainer_desk.hpp"

using namespace gradway::testing;
using Catch::Matchers::Contains;

TEST_CASE("torchtitan's settings become a scenario", "[cli][import]") {
  const Desk desk;
  const auto outcome = desk.run({"import", "torchtitan", data + "torchtitan-llama3_8b.toml", "--platform",
                                 "aws-p5.48xlarge", "--gpus", "64"});
  CHECK(outcome.status == 0);
  CHECK(outcome.output ==
        R"(# Settings of torchtitan's file that this scenario cannot express, and what the file lacks:
# - parallelism.async_tensor_paralel true: unknown key, which gradway ignores; did you mean
#   'parallelism.enable_async_tensor_parallel'?
schema: 1
source: >-
  torchtitan's settings in torchtitan-llama3_8b.toml
model: llama3_8b
platform: aws-p5.48xlarge
job:
  gpus: 64
  batch_per_gpu: 1
  precision: fp8
  fp8_recipe: tensorwise
  accumulate: 2
  sequence: 8192
  compile: true
  recompute: selective_op
  clip_grad_norm: true
strategy:
  kind: fsdp
  reshard_after_forward: true
  param_dtype: bf16
  reduce_dtype: fp32
parallel:
  tensor: 2
  sequence: true
  replicate: 2
optimizer: adamw
)");
}

TEST_CASE("torchtitan compiles the loss too, unless its list of components lacks it", "[cli][import]") {
  const Desk desk;
  const auto compiled = [&](const std::string& settings) {
    return desk.import("torchtitan", settings, of_text).output;
  };
  const std::string enabled = "[compile]\nenable = true\n";
  CHECK_THAT(compiled(enabled), Contains("  compile: true\n  fused_loss: true\n"));
  CHECK_THAT(compiled(enabled + "components = [\"model\"]\n"),
             Contains("  compile: true\n") && !Contains("fused_loss"));
}

TEST_CASE("CUDA graphs of torch.compile are taken from torchtitan's settings", "[cli][import]") {
  const Desk desk;
  const auto drafted = [&](const std::string& settings) {
    return desk.import("torchtitan", "[compile]\nenable = true\n" + settings, of_text).output;
  };
  const auto graphs = Contains("  compile: true\n  cuda_graphs: reduce_overhead\n");
  CHECK_THAT(drafted("mode = \"reduce-overhead\"\n"), graphs);
  CHECK_THAT(drafted("mode = \"max-autotune\"\n"), graphs);
  CHECK_THAT(drafted("passes = [\"regional_inductor\", \"cudagraph\"]\n"), graphs);
  CHECK_THAT(drafted("mode = \"max-autotune-no-cudagraphs\"\n"), !Contains("cuda_graphs"));
  CHECK_THAT(
      desk.import("torchtitan", "[compile]\nenable = true\nmode = \"reduce_overhead\"\n", of_text).errors,
      Contains("job.toml:3:8: error: invalid mode of torch.compile 'reduce_overhead'\n") &&
          Contains("  hint: did you mean 'reduce-overhead'?\n"));
}

TEST_CASE("the format that torchtitan creates a model in is that of its states", "[cli][import]") {
  const Desk desk;
  const auto drafted = [&](const std::string& settings) {
    return desk.import("torchtitan", "[training]\n" + settings, of_text).output;
  };
  CHECK_THAT(drafted("dtype = \"bfloat16\"\n"), Contains("  precision: bf16\n  state_dtype: bf16\n"));
  CHECK_THAT(drafted("dtype = \"float32\"\n"), !Contains("state_dtype"));
  CHECK_THAT(drafted("dtype = \"bfloat16\"\nmixed_precision_param = \"float32\"\n"),
             !Contains("state_dtype") &&
                 Contains("gradway computes in the format of the parameters: fp32 is assumed"));
}

TEST_CASE("torchtitan's offload to the CPU is taken", "[cli][import]") {
  const Desk desk;
  const auto outcome = desk.import("torchtitan", "[training]\nenable_cpu_offload = true\n", of_text);
  CHECK_THAT(outcome.output, Contains("  reduce_dtype: fp32\n  cpu_offload: true\n"));
  CHECK_THAT(outcome.errors, !Contains("offload"));
}

TEST_CASE("torchtitan's checkpoints of whole blocks are taken, and other modes told apart", "[cli][import]") {
  const Desk desk;
  const auto with_mode = [&](const std::string& mode) {
    return desk.import("torchtitan", "[activation_checkpoint]\nmode = \"" + mode + "\"\n", of_text);
  };
  CHECK_THAT(with_mode("full").output, Contains("\n  recompute: full\n") && !Contains("recompute_every"));
  const auto selective = [&](const std::string& option) {
    return with_mode("selective\"\nselective_ac_option = \"" + option);
  };
  CHECK_THAT(with_mode("selective").output, Contains("\n  recompute: full\n  recompute_every: 2\n"));
  CHECK_THAT(selective("3").output, Contains("\n  recompute: full\n  recompute_every: 3\n"));
  CHECK_THAT(selective("1").output, Contains("\n  recompute: full\n") && !Contains("recompute_every"));
  CHECK_THAT(selective("op").output, Contains("\n  recompute: selective_op\n"));
  CHECK_THAT(selective("ops").errors,
             Contains("job.toml:3:23: error: invalid option 'ops' of selective mode") &&
                 Contains("hint: expected op, or a number N to recompute every N-th block"));
  CHECK_THAT(with_mode("none").output, !Contains("recompute"));
  CHECK_THAT(with_mode("fulll").errors,
             Contains("job.toml:2:8: error: invalid mode 'fulll'") && Contains("did you mean 'full'?"));
}

TEST_CASE("a layout of torchtitan becomes its strategy", "[cli][import]") {
  const Desk desk;
  using Row = std::pair<std::string, std::string>;
  const auto [settings, keys] = GENERATE(values<Row>({
      {"data_parallel_replicate_degree = 8", "strategy:\n  kind: ddp\n  bucket_cap: 100 MiB\noptimizer"},
      {"data_parallel_replicate_degree = 2\ndata_parallel_shard_degree = 4\n"
       "fsdp_reshard_after_forward = \"never\"",
       "  kind: fsdp\n  reshard_after_forward: false\n  param_dtype: bf16\n  reduce_dtype: fp32\nparallel:\n"
       "  replicate: 2\n"},
      {"tensor_parallel_degree = 4", "parallel:\n  tensor: 4\n  sequence: true\n"},
  }));
  CAPTURE(settings);
  CHECK_THAT(desk.import("torchtitan", "[parallelism]\n" + settings, of_text).output, Contains(keys));
  CHECK_THAT(desk.import("torchtitan", "[training]\n" + settings, of_text).output, Contains(keys));
}

TEST_CASE("torchtitan's ranks of context and experts are taken", "[cli][import]") {
  const Desk desk;
  using Row = std::pair<std::string, std::string>;
  const auto [settings, keys] = GENERATE(
      values<Row>({{"context_parallel_degree = 2", "parallel:\n  context: 2\n  context_method: all_gather\n"},
                   {"context_parallel_degree = 2\ncontext_parallel_rotate_method = \"alltoall\"",
                    "parallel:\n  context: 2\n  context_method: ring\n"}}));
  CAPTURE(settings);
  CHECK_THAT(desk.import("torchtitan", "[parallelism]\n" + settings, of_text).output, Contains(keys));
  // The key is there, and a scenario of a dense model has no use for it.
  CHECK_THAT(desk.import("torchtitan", "[parallelism]\nexpert_parallel_degree = 4", of_text).errors,
             Contains("the model 'llama3_8b' has no experts"));
}

TEST_CASE("torchtitan prefetches blocks explicitly if ranks share experts", "[cli][import]") {
  const Desk desk;
  auto of_experts = of_text;
  *std::ranges::find(of_experts, "llama3_8b") = "mixtral_8x7b";
  const auto keys = [&](const std::string& settings) {
    return desk.import("torchtitan", "[parallelism]\n" + settings, of_experts).output;
  };
  CHECK_THAT(keys("expert_parallel_degree = 4"),
             Contains("  forward_prefetch: 1\n") && Contains("  expert: 4\n"));
  CHECK_THAT(keys("data_parallel_shard_degree = 8"), !Contains("forward_prefetch"));
}

TEST_CASE("a pipeline of torchtitan is taken with its schedule and micro-batches", "[cli][import]") {
  const Desk desk;
  using Row = std::pair<std::string, std::string>;
  const auto [settings, keys] = GENERATE(values<Row>({
      {"", "  pipeline: 2\n  schedule: 1f1b\n"},
      {"pipeline_parallel_schedule = \"GPipe\"", "  pipeline: 2\n  schedule: gpipe\n"},
      {"pipeline_parallel_schedule = \"interleaved1f1b\"",
       "  pipeline: 2\n  virtual: 2\n  schedule: interleaved\n"},
      {"pipeline_parallel_schedule = \"LoopedBFS\"\npipeline_parallel_split_points = "
       "[\"layers.4\", \"layers.8\", \"layers.12\", \"layers.16\", \"layers.20\", \"layers.24\", "
       "\"layers.28\"]",
       "  pipeline: 2\n  virtual: 4\n  schedule: looped_bfs\n"},
      {"pipeline_parallel_schedule = \"ZBVZeroBubble\"", "  pipeline: 2\n  virtual: 2\n  schedule: zb_v\n"},
      {"pipeline_parallel_schedule = \"DualPipeV\"",
       "  pipeline: 2\n  virtual: 2\n  schedule: dual_pipe_v\n"},
  }));
  CAPTURE(settings);
  const auto outcome =
      desk.import("torchtitan", "[parallelism]\npipeline_parallel_degree = 2\n" + settings, of_text);
  CHECK_THAT(
      outcome.output,
      Contains("  batch_per_gpu: 1\n  precision: bf16\n  accumulate: 8\n") &&
          Contains("strategy:\n  kind: fsdp\n  param_dtype: bf16\n  reduce_dtype: fp32\nparallel:\n" + keys));
}

TEST_CASE("asynchronous tensor parallelism of torchtitan is taken, and asks for its compiler",
          "[cli][import]") {
  const Desk desk;
  const std::string file =
      "[parallelism]\ntensor_parallel_degree = 2\nenable_async_tensor_parallel = true\n[compile]\nenable = ";
  CHECK_THAT(desk.import("torchtitan", file + "true", of_text).output,
             Contains("  tensor: 2\n  sequence: true\n  overlap: async_tp\n"));
  CHECK_THAT(desk.import("torchtitan", file + "false", of_text).errors,
             Contains("job.toml:3:32: error: asynchronous tensor parallelism requires a compiled model\n"
                      "    3 | enable_async_tensor_parallel = true\n"
                      "      |                                ^~~~\n"
                      "  hint: set compile.enable to true\n"));
}

TEST_CASE("micro-batches of torchtitan's pipeline multiply with its accumulation", "[cli][import]") {
  const Desk desk;
  const auto outcome = desk.import("torchtitan",
                                   "[training]\nlocal_batch_size = 4\nglobal_batch_size = 32\n[parallelism]\n"
                                   "pipeline_parallel_degree = 4\npipeline_parallel_microbatch_size = 2\n",
                                   of_text);
  CHECK_THAT(outcome.output, Contains("  batch_per_gpu: 2\n  precision: bf16\n  accumulate: 8\n"));
  CHECK_THAT(
      outcome.errors,
      Contains(
          "training.global_batch_size 32: torchtitan drains the pipeline 4 times per step, gradway once\n"));
}

TEST_CASE("torchtitan without FSDP computes split layers in fp32", "[cli][import]") {
  const Desk desk;
  const auto outcome = desk.import("torchtitan", "[parallelism]\ntensor_parallel_degree = 8\n", of_text);
  CHECK_THAT(outcome.output, Contains("  precision: fp32\n") && Contains("  kind: none\n"));
  CHECK_THAT(outcome.errors,
             Contains("precision: torchtitan computes in fp32 where layers or stages are split "
                      "and FSDP is off\n"));
}

TEST_CASE("torchtitan's validation and its optimizer in the backward pass are read", "[cli][import]") {
  const Desk desk;
  const auto with = [&](const std::string& text) { return desk.import("torchtitan", text, of_text).output; };
  CHECK_THAT(with("[validation]\nenable = true\nlocal_batch_size = 16\nseq_len = 4096\n"),
             Contains("  eval_batch: 16\n  eval_sequence: 4096\n"));
  CHECK_THAT(with("[validation]\nenabled = true\n"), Contains("  eval_batch: 8\n  eval_sequence: 2048\n"));
  CHECK_THAT(with("[validation]\nlocal_batch_size = 16\n"), !Contains("eval_batch"));
  CHECK_THAT(with("[optimizer]\nearly_step_in_backward = true\n"),
             Contains("  optimizer_in_backward: true\n"));
}

TEST_CASE("flavors of torchtitan are the models that gradway ships", "[cli][import]") {
  using Row = std::tuple<std::string, std::string, std::string>;
  const auto [name, flavor, model] = GENERATE(values<Row>({
      {"llama3", "8B", "llama3_8b"},
      {"llama3", "405B", "llama3_405b"},
      {"qwen3", "1.7B", "qwen3_1b7"},
      {"qwen3", "0.6B", "qwen3_0b6"},
      {"deepseek_v3", "671B", "deepseek_v3"},
      {"llama4", "17bx128e", "llama4_maverick"},
  }));
  CAPTURE(name, flavor);
  const Desk desk;
  const auto outcome = desk.import(
      "torchtitan",
      "[model]\nname = \"" + name + "\"\nflavor = \"" + flavor + "\"\n[training]\nlocal_batch_size = 1\n",
      {"--platform", "dgx-h100", "--gpus", "8"});
  CHECK_THAT(outcome.output, Contains("\nmodel: " + model + "\n"));
}

TEST_CASE("fp8 of torchtitan of 2024 is read", "[cli][import]") {
  const Desk desk;
  CHECK_THAT(
      desk.import("torchtitan", "[training]\nbatch_size = 2\nfp8_linear = \"dynamic\"\n", of_text).output,
      Contains("  precision: fp8\n"));
}

TEST_CASE("a configuration of torchtitan's Python registry becomes a scenario", "[cli][import]") {
  const Desk desk;
  desk.folder.write("config_registry.py", R"(from torchtitan.config import TrainingConfig, ParallelismConfig
from . import model_registry


def llama3_debugmodel() -> Trainer.Config:
    return Trainer.Config(
        model_spec=model_registry("debugmodel"),
        training=TrainingConfig(local_batch_size=8, seq_len=2048, steps=10),
    )


def llama3_8b() -> Trainer.Config:
    """8B."""
    return Trainer.Config(
        model_spec=model_registry("8B"),  # flavor
        optimizer=OptimizersContainer.Config(lr=3e-4),
        training=TrainingConfig(local_batch_size=1, seq_len=8192, steps=1000),
        activation_checkpoint=ActivationCheckpointConfig(mode="selective", selective_ac_option="op"),
    )


def llama3_405b() -> Trainer.Config:
    config = llama3_8b()
    config.model_spec = model_registry("405B")
    config.training.local_batch_size = 2
    config.parallelism = ParallelismConfig(tensor_parallel_degree=8)
    return config
)");
  const auto of = [&](const std::vector<std::string>& options) {
    return desk.run(
        with({"import", "torchtitan", "config_registry.py", "--platform", "aws-p5.48xlarge", "--gpus", "64"},
             options));
  };
  CHECK(of({"--config", "llama3_8b"}).output == R"(schema: 1
source: >-
  torchtitan's settings in config_registry.py
model: llama3_8b
platform: aws-p5.48xlarge
job:
  gpus: 64
  batch_per_gpu: 1
  precision: bf16
  sequence: 8192
  recompute: selective_op
  clip_grad_norm: true
strategy:
  kind: fsdp
  param_dtype: bf16
  reduce_dtype: fp32
optimizer: adamw_fused
)");
  CHECK_THAT(of({"--config", "llama3_405b"}).output,
             Contains("model: llama3_405b\n") && Contains("  batch_per_gpu: 2\n") &&
                 Contains("  sequence: 8192\n  recompute: selective_op\n") &&
                 Contains("parallel:\n  tensor: 8\n"));
  CHECK(of({}).errors ==
        "config_registry.py: error: the file has several configurations\n"
        "  hint: name one with --config: llama3_debugmodel, llama3_8b, llama3_405b\n");
  CHECK(of({"--config", "llama3_9b"}).status == 2);
}
