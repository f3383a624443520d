// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "tests/cli/trainer_desk.hpp"

using namespace gradway::testing;
using Catch::Matchers::Contains;

TEST_CASE("DeepSpeed's settings become a scenario that runs", "[cli][import]") {
  const Desk desk;
  const auto outcome = desk.run({"import", "deepspeed", data + "ds_config-zero3.json", "--model", "gpt_124m",
                                 "--platform", "aws-p4d.24xlarge", "-o", "scenarios/mine.yaml"});
  CHECK(outcome.status == 0);
  CHECK(outcome.output == "scenarios/mine.yaml\n");
  CHECK_THAT(outcome.errors,
             !Contains("gradient_clipping") &&
                 Contains("ds_config-zero3.json:24:5: zero_optimization."
                          "zero_quantised_gradients true: unknown key, which gradway ignores; did "
                          "you mean 'zero_optimization.zero_quantized_gradients'?\n"));
  const std::string scenario =
      R"(# Settings of DeepSpeed's file that this scenario cannot express, and what the file lacks:
# - zero_optimization.allgather_bucket_size 2e8: gradway gathers parameters after the step in one collective,
#   as recent releases of DeepSpeed do
# - zero_optimization.stage3_param_persistence_threshold 0: a scenario allows 1 to 1e15, so 1 is used
# - zero_optimization.zero_quantised_gradients true: unknown key, which gradway ignores; did you mean
#   'zero_optimization.zero_quantized_gradients'?
# - activation_checkpointing {...}: the model's own code decides whether blocks are recomputed: if so, set
#   job.recompute to full
schema: 1
source: >-
  DeepSpeed's settings in ds_config-zero3.json
model: gpt_124m
platform: aws-p4d.24xlarge
job:
  gpus: 8
  batch_per_gpu: 4
  precision: bf16
  accumulate: 2
  framework: deepspeed
  clip_grad_norm: true
strategy:
  kind: zero
  stage: 3
  reduce_bucket_size: 2e8
  prefetch_bucket_size: 5e7
  max_live_parameters: 1e9
  max_reuse_distance: 1e9
  param_persistence_threshold: 1
  overlap_comm: true
  offload_optimizer: true
  communication_dtype: fp32
  zero_hpz_partition_size: 8
  zero_quantized_weights: true
optimizer: adamw_fused
)";
  CHECK(content_of(desk.folder.path() / "scenarios/mine.yaml") == scenario);
  const auto run = desk.run({"run", "scenarios/mine.yaml"});
  CHECK(run.status == 0);
  CHECK_THAT(run.output, Contains("batch        4 per GPU"));
  CHECK_THAT(run.output, Contains("ZeRO"));
}

TEST_CASE("what a trainer's file leaves out is as the trainer has it", "[cli][import]") {
  const Desk desk;
  const auto titan = desk.import("torchtitan", "# nothing\n", of_text);
  CHECK(titan.errors.empty());
  CHECK_THAT(
      titan.output,
      Contains("job:\n  gpus: 8\n  batch_per_gpu: 8\n  precision: bf16\n  sequence: 2048\n"
               "  recompute: full\n  recompute_every: 2\n"
               "  clip_grad_norm: true\nstrategy:\n  kind: fsdp\n  param_dtype: bf16\n  reduce_dtype: fp32\n"
               "optimizer: adamw_fused\n"));
  const auto speed = desk.import("deepspeed", "{\"train_batch_size\": 16}", where);
  CHECK_THAT(speed.output,
             Contains("job:\n  gpus: 8\n  batch_per_gpu: 2\n  precision: fp32\n  framework: deepspeed\n"
                      "strategy:\n  kind: ddp\n  bucket_cap: 2 GB\noptimizer: adamw\n"));
}

TEST_CASE("a trainer that clips to nothing does not clip", "[cli][import]") {
  const Desk desk;
  CHECK_THAT(desk.import("torchtitan", "[training]\nmax_norm = 0.0\n", of_text).output,
             !Contains("clip_grad_norm"));
  const auto speed = [&](const std::string& clipping) {
    return desk
        .import("deepspeed", "{\"train_batch_size\": 16, \"gradient_clipping\": " + clipping + "}", where)
        .output;
  };
  CHECK_THAT(speed("0"), !Contains("clip_grad_norm"));
  CHECK_THAT(speed("0.5"), Contains("  clip_grad_norm: true\n"));
}

TEST_CASE("DeepSpeed's reductions of stage 3 are scattered unless it says otherwise", "[cli][import]") {
  const Desk desk;
  const auto with_scatter = [&](const char* value) {
    return desk
        .import(
            "deepspeed",
            fmt::format("{{\"train_batch_size\": 16, \"bf16\": {{\"enabled\": true}}, \"zero_optimization\": "
                        "{{\"stage\": 3, \"reduce_scatter\": {}}}}}",
                        value),
            where)
        .output;
  };
  CHECK_THAT(with_scatter("false"), Contains("  stage: 3\n") && Contains("  reduce_scatter: false\n"));
  CHECK_THAT(with_scatter("true"), !Contains("reduce_scatter: false"));
}

TEST_CASE("DeepSpeed's pipeline and tensor ranks are taken", "[cli][import]") {
  const Desk desk;
  const auto outcome = desk.import("deepspeed",
                                   "{\"train_batch_size\": 16, \"gradient_accumulation_steps\": 4, "
                                   "\"bf16\": {\"enabled\": true}, \"zero_optimization\": {\"stage\": 1}, "
                                   "\"pipeline\": {\"stages\": 2, \"partition\": \"best\"}, "
                                   "\"tensor_parallel\": {\"autotp_size\": 2}}",
                                   {"--platform", "dgx-h100", "--model", "llama3_8b", "--gpus", "8"});
  CHECK_THAT(outcome.output,
             Contains("  batch_per_gpu: 2\n  precision: bf16\n  accumulate: 4\n  framework: deepspeed\n") &&
                 Contains("parallel:\n  tensor: 2\n  pipeline: 2\n"));
  CHECK_THAT(outcome.errors,
             Contains("pipeline.partition \"best\": gradway divides the blocks as evenly as possible\n"));
}

TEST_CASE("DeepSpeed's batches follow from each other", "[cli][import]") {
  const Desk desk;
  using Row = std::pair<std::string, std::string>;
  const auto [settings, job] = GENERATE(values<Row>({
      {R"("train_batch_size": 32)", "batch_per_gpu: 4\n  precision: fp32\n  framework: deepspeed\nstrategy"},
      {R"("train_micro_batch_size_per_gpu": 3)",
       "batch_per_gpu: 3\n  precision: fp32\n  framework: deepspeed\nstrategy"},
      {R"("train_batch_size": 64, "train_micro_batch_size_per_gpu": 2)",
       "batch_per_gpu: 2\n  precision: "
       "fp32\n  accumulate: 4\n"},
      {R"("train_batch_size": 64, "gradient_accumulation_steps": 4)",
       "batch_per_gpu: 2\n  precision: "
       "fp32\n  accumulate: 4\n"},
      {R"("train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 4)",
       "batch_per_gpu: 2\n  precision: fp32\n  accumulate: 4\n"},
      {R"("train_batch_size": "auto", "train_micro_batch_size_per_gpu": 5, "gradient_accumulation_steps": "auto")",
       "batch_per_gpu: 5\n  precision: fp32\n  framework: deepspeed\nstrategy"},
  }));
  CAPTURE(settings);
  CHECK_THAT(desk.import("deepspeed", "{" + settings + "}", where).output, Contains("gpus: 8\n  " + job));
}

TEST_CASE("what the files say is a strategy, an optimizer and a precision", "[cli][import]") {
  const Desk desk;
  using Row = std::pair<std::string, std::string>;
  const auto [settings, keys] = GENERATE(values<Row>({
      {R"("bf16": {"enabled": true})", "kind: ddp\n  bucket_cap: 2 GB\n  comm_hook: bf16\n"},
      {R"("fp16": {"enabled": true}, "communication_data_type": "fp32")", "bucket_cap: 2 GB\n"},
      {R"("zero_optimization": {"stage": 1, "reduce_bucket_size": 123456789})",
       "kind: zero\n  stage: 1\n  reduce_bucket_size: 123456789\n"},
      {R"("zero_optimization": {"stage": 1}, "bf16": {"enabled": true}, "data_types": {"grad_accum_dtype": "fp32"})",
       "kind: zero\n  stage: 1\n  grad_accum_dtype: fp32\n"},
      {R"("bf16": {"enabled": true, "bf16_master_weights_and_grads": true, "bf16_optimizer_states": true}, "zero_optimization": {"stage": 2})",
       "precision: bf16\n  state_dtype: bf16\n"},
      {R"("zero_optimization": {"stage": 2, "overlap_comm": false, "stage3_max_live_parameters": 1})",
       "stage: 2\n  overlap_comm: false\n"},
      {R"("zero_optimization": {"stage": 3, "prefetch_bucket_size": 15e6})",
       "stage: 3\n  prefetch_bucket_size: 1.5e7\n"},
      {R"("optimizer": {"type": "Adam", "params": {"torch_adam": true}})", "\noptimizer: adamw\n"},
      {R"("optimizer": {"type": "SGD"})", "\noptimizer: sgd\n"},
      {R"("optimizer": {"type": "OneBitLamb"})", "\noptimizer: lamb\n"},
      {R"("steps_per_print": 1)", "\noptimizer: adamw\n"},
      {R"("compile": {"enabled": true})", "compile: true\n"},
  }));
  CAPTURE(settings);
  const auto outcome = desk.import("deepspeed", "{\"train_batch_size\": 8, " + settings + "}", where);
  CHECK_THAT(outcome.output, Contains(keys));
  CHECK(outcome.status == 0);
}

TEST_CASE("what gradway cannot say of a trainer's file is listed", "[cli][import]") {
  const Desk desk;
  using Row = std::pair<std::string, std::string>;
  const auto [settings, note] = GENERATE(values<Row>({
      {R"("bf16": {"enabled": true, "bf16_master_weights_and_grads": true}, "zero_optimization": {"stage": 2})",
       "bf16.bf16_master_weights_and_grads true: gradway keeps master weights, gradients and optimizer "
       "states in one format: fp32 is assumed, which needs more memory"},
      {R"("optimizer": {"type": "OneBitAdam"})",
       "optimizer.type \"OneBitAdam\": gradway does not compress what it sends: it is predicted as "
       "adamw_fused\n"},
      {R"("optimizer": {"type": "Adagrad"})",
       "optimizer.type \"Adagrad\": gradway does not support this optimizer, so adamw is assumed; "
       "'optimizer' "
       "in the scenario changes it\n"},
      {R"("zero_optimization": {"stage": 3, "offload_param": {"device": "cpu"}})",
       "zero_optimization.offload_param.device \"cpu\": gradway offloads parameters of stage 3, with the "
       "optimizer's states\n"},
      {R"("zero_optimization": {"stage": 3, "offload_optimizer": {"device": "nvme"}})",
       "zero_optimization.offload_optimizer.device \"nvme\": gradway offloads to host memory instead, which "
       "takes less time\n"},
      {R"("sequence_parallel_size": 2, "tensor_parallel": {"autotp_size": 1})",
       "sequence_parallel_size 2: gradway does not split sequences over GPUs: each GPU trains on its own "
       "samples, 2 times as many per step as in the file\n"},
      {R"("banana": [1])", "banana [...]: unknown key, which gradway ignores\n"},
      {R"("zero_optimization": {"stage": 1, "reduce_bucket_size": "auto"})",
       "zero_optimization.reduce_bucket_size \"auto\": the trainer's own code sets the value; gradway "
       "uses an option or the default\n"},
  }));
  CAPTURE(settings);
  CHECK_THAT(desk.import("deepspeed", "{\"train_batch_size\": 8, " + settings + "}", where).errors,
             Contains(note));
}

TEST_CASE("a trainer's file that contradicts itself or leaves too much open is refused",
          "[cli][import][errors]") {
  struct Row {
    std::string format;
    std::string text;
    std::vector<std::string> options;
    std::string errors;
  };
  const Desk desk;
  const auto row = GENERATE(values<Row>({
      {"deepspeed",
       "{}",
       {},
       "ds.json: error: the file does not name a model\n"
       "  hint: name one with --model; 'gradway list models' lists them\n"
       "ds.json: error: the file does not name a platform\n"
       "  hint: name one with --platform; 'gradway list platforms' lists them\n"
       "ds.json: error: the file does not give the number of GPUs\n  hint: give it with --gpus\n"
       "ds.json: error: the file has neither 'train_batch_size' nor 'train_micro_batch_size_per_gpu'\n"
       "  hint: give the samples of a micro-step per GPU with --batch\n"},
      {"deepspeed", "{\"train_batch_size\": 64,\n \"train_micro_batch_size_per_gpu\": 3}", where,
       "ds.json:1:22: error: 64 samples per step are not 3 x 2 x 8 ranks\n"
       "    1 | {\"train_batch_size\": 64,\n      |                      ^~\n"
       "  note: ds.json:2:36: the micro-batch is here\n"
       "  hint: DeepSpeed requires train_batch_size = train_micro_batch_size_per_gpu x "
       "gradient_accumulation_steps x GPUs\n"},
      {"deepspeed", "{\"train_batch_size\": 32,\n \"train_micro_batch_size_per_gpu\": 32}", where,
       "ds.json:1:22: error: 32 samples per step are fewer than 32 on each of 8 ranks\n"
       "    1 | {\"train_batch_size\": 32,\n      |                      ^~\n"
       "  note: ds.json:2:36: the micro-batch is here\n"
       "  hint: DeepSpeed requires train_batch_size = train_micro_batch_size_per_gpu x "
       "gradient_accumulation_steps x GPUs; --gpus 1 fits\n"},
      {"deepspeed", "{\"train_micro_batch_size_per_gpu\": 3}", with(where, {"--batch", "4"}),
       "ds.json:1:36: error: the file has a batch of 3 samples, but --batch is 4\n"
       "    1 | {\"train_micro_batch_size_per_gpu\": 3}\n"
       "      |                                    ^\n  hint: remove --batch, or change the file\n"},
      {"deepspeed", "{\"train_batch_size\": 8, \"fp16\": {\"enabled\": true}, \"bf16\": {\"enabled\": true}}",
       where,
       "ds.json:1:45: error: fp16 and bf16 are both enabled\n"
       "    1 | {\"train_batch_size\": 8, \"fp16\": {\"enabled\": true}, \"bf16\": {\"enabled\": true}}\n"
       "      |                                             ^~~~\n"
       "  note: ds.json:1:72: bf16 is here\n  hint: DeepSpeed accepts only one of them\n"},
      {"deepspeed", "{\"train_batch_size\": 8, \"bf16\": {\"enabled\": \"auto\"}}", where,
       "ds.json:1:45: error: 'enabled' is \"auto\": the file does not give the precision\n"
       "    1 | {\"train_batch_size\": 8, \"bf16\": {\"enabled\": \"auto\"}}\n"
       "      |                                             ^~~~~~\n"
       "  hint: give it with --precision: bf16, fp16 or fp32\n"},
      {"deepspeed", "{\"train_batch_size\": 8, \"zero_optimization\": {\"stage\": 4}}", where,
       "ds.json:1:56: error: invalid value 4 for 'stage'\n"
       "    1 | {\"train_batch_size\": 8, \"zero_optimization\": {\"stage\": 4}}\n"
       "      |                                                        ^\n  hint: expected a whole number "
       "from 0 to "
       "3\n"},
      {"deepspeed", "{\"train_batch_size\": 8, \"zero_optimization\": true}", where,
       "ds.json:1:46: error: 'zero_optimization' is not a map\n"
       "    1 | {\"train_batch_size\": 8, \"zero_optimization\": true}\n"
       "      |                                              ^~~~\n"
       "  hint: write it as in {\"stage\": 2}\n"},
      {"torchtitan", "[parallelism]\ndata_parallel_shard_degree = 4\n", where,
       "job.toml:2:30: error: the product of the degrees is 4 GPUs, but --gpus is 8\n"
       "    2 | data_parallel_shard_degree = 4\n      |                              ^\n"
       "  hint: remove --gpus, or set data_parallel_shard_degree to -1\n"},
      {"torchtitan",
       "[parallelism]\npipeline_parallel_degree = 2\npipeline_parallel_schedule = "
       "\"InterleavedZeroBubble\"\n",
       of_text, "job.toml:3:30: error: unknown schedule 'InterleavedZeroBubble'\n"},
      {"torchtitan", "[parallelism]\npipeline_parallel_degree = 2\npipeline_parallel_microbatch_size = 3\n",
       of_text,
       "job.toml:3:37: error: the 8 samples of a pipeline are not divisible by 3\n"
       "    3 | pipeline_parallel_microbatch_size = 3\n      |                                     ^\n"
       "  hint: torchtitan requires local_batch_size = pipeline_parallel_microbatch_size x micro-batches\n"},
      {"deepspeed",
       "{\"train_batch_size\": 8, \"zero_optimization\": {\"stage\": 2}, \"pipeline\": {\"stages\": 2}}",
       where,
       "ds.json: error: the scenario made from this input is invalid: DeepSpeed does not support pipeline "
       "parallelism with ZeRO stage 2\n"},
      {"torchtitan", "[training]\nglobal_batch_size = 12\nlocal_batch_size = 1\n", where,
       "job.toml:2:21: error: 12 samples per step are not divisible by 1 on each of 8 ranks\n"
       "    2 | global_batch_size = 12\n      |                     ^~\n"
       "  hint: torchtitan requires global_batch_size = local_batch_size x data parallel degrees x "
       "micro-steps\n"},
      {"torchtitan",
       "[model]\nname = \"llama3\"\nflavor = \"9B\"\n",
       {"--platform", "dgx-h100", "--gpus", "8"},
       "job.toml:3:10: error: unknown model 'llama3_9b' for 'llama3' of flavor '9B'\n"
       "    3 | flavor = \"9B\"\n      |          ^~~~\n"
       "  hint: similar models: llama3_2_1b, llama3_2_3b, llama3_405b, llama3_70b, llama3_8b; name one with "
       "--model, or "
       "write "
       "models/llama3_9b.yaml\n"},
      {"torchtitan", "[training]\nseq_len = 1_000_000\n", where,
       "job.toml: error: the scenario made from this input is invalid: job.sequence 1000000 is too long: the "
       "model 'gpt_124m' has 1024 learned positions\n"},
      {"torchtitan", "[training]\nmixed_precision_param = \"bf16\"\n", where,
       "job.toml:2:25: error: invalid type 'bf16'\n"
       "    2 | mixed_precision_param = \"bf16\"\n      |                         ^~~~~~\n"
       "  hint: known: bfloat16, float32, float16\n"},
      {"torchtitan", "[training]\nsteps = 1,\n", where,
       "job.toml:2:10: error: invalid TOML: error while parsing key-value pair: expected a comment or "
       "whitespace, saw ','\n"},
      {"torchtitan",
       "a = 1\n",
       {"--platform", "dgx-h1000"},
       "--platform dgx-h1000: error: unknown platform 'dgx-h1000': there is no 'platforms/dgx-h1000.yaml' "
       "next to "
       "your file or in the data folders\n  hint: did you mean 'dgx-h100'?\n"},
      {"torchtitan",
       "a = 1\n",
       {"--batch", "4"},
       "error: 'gradway import torchtitan' does not have '--batch'\n  hint: it is an option of kineto, "
       "nsys, chakra, deepspeed, trainer\n"},
  }));
  CAPTURE(row.text);
  const auto outcome = desk.import(row.format, row.text, with(row.options, {"-o", "x.yaml"}));
  CHECK(outcome.status == 2);
  CHECK(outcome.output.empty());
  CHECK(outcome.errors.substr(0, row.errors.size()) == row.errors);
  CHECK(!std::filesystem::exists(desk.folder.path() / "x.yaml"));
}

TEST_CASE("options fill in what Hugging Face's file leaves to the trainer", "[cli][import]") {
  const Desk desk;
  const std::vector<std::string> file{"import", "deepspeed", data + "ds_config-hugging-face.json"};
  const auto filled = desk.run(with(with(file, where), {"--batch", "4", "--precision", "bf16"}));
  CHECK_THAT(filled.output,
             Contains("job:\n  gpus: 8\n  batch_per_gpu: 4\n  precision: bf16\n  framework: deepspeed\n"
                      "strategy:\n  kind: zero\n  stage: 2\n  overlap_comm: true\n"));
  CHECK_THAT(
      filled.errors,
      Contains("6:5: zero_optimization.reduce_bucket_size \"auto\": the trainer's own code sets the value") &&
          Contains("optimizer: the file does not name one, so adamw is assumed"));
  const auto open = desk.run(with(file, where));
  CHECK(open.status == 2);
  CHECK_THAT(open.errors, Contains("13:37: error: 'train_micro_batch_size_per_gpu' is \"auto\"") &&
                              Contains("3:24: error: 'enabled' is \"auto\""));
}

TEST_CASE("keys that change nothing of a step are no warnings", "[cli][import]") {
  const Desk desk;
  const auto deepspeed =
      desk.import("deepspeed",
                  R"({"train_batch_size": 8, "steps_per_print": 10, "scheduler": {"type": "WarmupLR"},
          "optimizer": {"type": "AdamW", "params": {"lr": 1e-4, "betas": [0.9, 0.95]}},
          "zero_optimization": {"stage": 2, "stage3_max_live_parameters": 1, "cpu_offload": true}})",
                  where);
  CHECK(deepspeed.errors.empty());
  CHECK_THAT(deepspeed.output, Contains("\n  offload_optimizer: true\n") && !Contains("# -"));
  const auto torchtitan =
      desk.import("torchtitan",
                  "[profiling]\nenable_profiling = true\n[training]\nsteps = 10\n[parallelism]\n"
                  "pipeline_parallel_schedule = \"1F1B\"\ncontext_parallel_rotate_method = \"allgather\"\n",
                  of_text);
  CHECK(torchtitan.errors.empty());
}

TEST_CASE("option --sequence says how long samples are where a trainer's file does not", "[cli][import]") {
  const Desk desk;
  const auto taken =
      desk.import("torchtitan", "[training]\nlocal_batch_size = 1\n", with(of_text, {"--sequence", "4096"}));
  CHECK_THAT(taken.output, Contains("\n  sequence: 4096\n"));
  const auto clash =
      desk.import("torchtitan", "[training]\nseq_len = 8192\n", with(of_text, {"--sequence", "4096"}));
  CHECK(clash.status == 2);
  CHECK_THAT(
      clash.errors,
      Contains("job.toml:2:11: error: the file has a sequence of 8192 tokens, but --sequence is 4096\n") &&
          Contains("hint: remove --sequence, or change the file\n"));
}

TEST_CASE("torchtitan's layers of a stage say how many chunks a rank has", "[cli][import]") {
  const Desk desk;
  const auto import = [&](const std::string& keys) {
    return desk.import("torchtitan",
                       "[training]\nlocal_batch_size = 8\n[parallelism]\npipeline_parallel_degree = 4\n"
                       "pipeline_parallel_schedule = \"Interleaved1F1B\"\n" +
                           keys,
                       of_text);
  };
  const std::string exact =
      "pipeline_parallel_first_stage_less_layers = 0\npipeline_parallel_last_stage_less_layers = 0\n";
  // 32 blocks, and unless the file says otherwise embedding and head as one each.
  CHECK_THAT(import("pipeline_parallel_layers_per_stage = 2\n" + exact).output, Contains("\n  virtual: 4\n"));
  CHECK_THAT(import("pipeline_parallel_layers_per_stage = 5\n" + exact).errors,
             Contains("7 stages are not divisible by 4 ranks"));
  CHECK_THAT(import("pipeline_parallel_layers_per_stage = 3\n").output, Contains("\n  virtual: 3\n"));
}
