// SPDX-License-Identifier: Apache-2.0
// What is printed to paste is the job that was predicted: its import gives the same step, to the last digit.
#include <algorithm>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/files/settings_file.hpp"
#include "sim/import/training/scenario_draft.hpp"
#include "sim/report/search/layouts.hpp"
#include "sim/report/search/snippet.hpp"
#include "sim/run/simulate.hpp"
#include "sim/study/search/layouts.hpp"
#include "sim/workload/blocks.hpp"

using namespace gradway;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};
const std::string model = "gpt_124m";
const std::string platform = "dgx-h100";
constexpr int gpus = 16;
constexpr int samples = 64;

Scenario scenario_of(const std::string& job, const std::string& strategy, const std::string& optimizer) {
  return load_scenario("sharded/llama2_7b",
                       {{"model", model},
                        {"platform", platform},
                        {"job", fmt::format("{{gpus: {}, {}}}", gpus, job)},
                        {"strategy", strategy},
                        {"optimizer", optimizer}},
                       data);
}

TextFile text_file(const std::string& name, const std::string& text) {
  TextFile file;
  file.name = name;
  file.content = text;
  return file;
}

DraftOptions options() {
  DraftOptions options;
  options.model = model;
  options.platform = platform;
  options.gpus = gpus;
  options.known_models = {model};
  options.blocks_of = [](const std::string& name) { return blocks_of(load_model(name, data)).count; };
  return options;
}

Seconds step_of(Scenario scenario) {
  return simulate(std::move(scenario), "fluid").measured.metrics.step_time;
}

Scenario imported(const report::LayoutSnippet& snippet) {
  const auto text = text_file(snippet.file, snippet.text);
  const auto draft = snippet.framework == "megatron"
                         ? draft_of_megatron(read_argument_settings(text), options(), "unused").scenario
                         : draft_of_torchtitan(read_toml_settings(text), options());
  INFO(snippet.text);
  for (const auto& note : draft.notes) UNSCOPED_INFO(to_text(note));
  CHECK(draft.notes.empty());
  return load_scenario_text(scenario_yaml(draft), "mine.yaml", data);
}

/// Every so many of the layouts of a search.
void check_layouts(const Scenario& written, std::size_t every) {
  const auto candidates = candidate_layouts(written, samples, false);
  const report::SnippetModel shape{blocks_of(written.model).count, written.model.tokens_per_sample,
                                   written.model.experts.number > 0};
  std::size_t compared = 0;
  for (std::size_t i = 0; i < candidates.size(); i += every) {
    auto scenario = written;
    scenario.job = candidates[i];
    const auto snippet = report::layout_snippet(scenario.job, shape);
    if (snippet.text.find("the predicted job") != std::string::npos) continue;  // torchtitan cannot train it
    INFO(snippet.text);
    const auto again = imported(snippet);
    CHECK(again.job.layout.model_parallel_ranks() == scenario.job.layout.model_parallel_ranks());
    CHECK(again.job.samples() == samples);
    CHECK(step_of(again) == step_of(std::move(scenario)));
    ++compared;
  }
  CHECK(compared >= 5);
}

}  // namespace

TEST_CASE("torchtitan's tables are the job that was predicted", "[cli][import]") {
  const auto [job, strategy, optimizer] = GENERATE(table<std::string, std::string, std::string>({
      {"batch_per_gpu: 2, precision: bf16, compile: true, fused_loss: true, clip_grad_norm: true",
       "{kind: fsdp, param_dtype: bf16, reduce_dtype: fp32}", "adamw_fused"},
      {"batch_per_gpu: 2, precision: bf16, sequence: 512",
       "{kind: fsdp, param_dtype: bf16, reduce_dtype: bf16, reshard_after_forward: false}", "adamw"},
      {"batch_per_gpu: 2, precision: fp32", "{kind: fsdp, reshard_after_forward: true}", "adamw"},
      {"batch_per_gpu: 2, precision: fp8, fp8_recipe: rowwise, compile: true",
       "{kind: fsdp, param_dtype: bf16, reduce_dtype: fp32}", "adamw_fused"},
  }));
  CAPTURE(job, strategy);
  check_layouts(scenario_of(job, strategy, optimizer), 23);
}

TEST_CASE("torchtitan's selective checkpoints are the job that was predicted", "[cli][import]") {
  auto written = scenario_of("batch_per_gpu: 2, precision: bf16, compile: true",
                             "{kind: fsdp, param_dtype: bf16, reduce_dtype: fp32}", "adamw_fused");
  const auto candidates = candidate_layouts(written, samples, false);
  const auto fsdp = std::ranges::find_if(
      candidates, [](const Job& candidate) { return std::holds_alternative<Fsdp>(candidate.strategy); });
  REQUIRE(fsdp != candidates.end());
  const auto job = with_selective_checkpoints(written.model, *fsdp);
  REQUIRE(job.has_value());
  CHECK(job->samples() == samples);
  written.job = *job;
  const auto again = imported(report::layout_snippet(*job, {12, written.model.tokens_per_sample}));
  CHECK(again.job.recompute == Recompute::selective_op);
  CHECK(step_of(again) == step_of(written));
}

TEST_CASE("Megatron-LM's arguments are the job that was predicted", "[cli][import]") {
  const auto [job, optimizer] = GENERATE(table<std::string, std::string>({
      {"batch_per_gpu: 2, precision: bf16, framework: megatron", "adamw_fused"},
      {"batch_per_gpu: 2, precision: bf16, framework: megatron, clip_grad_norm: true, attention: flash",
       "sgd_momentum"},
      {"batch_per_gpu: 2, precision: fp16, framework: megatron, sequence: 512, attention: math",
       "adamw_fused"},
      {"batch_per_gpu: 2, precision: fp8, framework: megatron", "adamw_fused"},
  }));
  const auto grad = GENERATE(as<std::string>{}, "fp32", "bf16");
  const bool is_fp16 = job.find("fp16") != std::string::npos;
  const auto reduced = is_fp16 && grad == "bf16" ? "fp16" : grad;
  CAPTURE(job, reduced);
  check_layouts(
      scenario_of(job, "{kind: distributed_optimizer, grad_reduce_dtype: " + reduced + "}", optimizer), 29);
}

TEST_CASE("DeepSpeed's configuration is the job that was predicted", "[cli][import]") {
  const auto strategy = GENERATE(as<std::string>{}, "{kind: zero, stage: 1, grad_accum_dtype: fp32}",
                                 "{kind: zero, stage: 2, overlap_comm: true, reduce_bucket_size: 2e8}",
                                 "{kind: zero, stage: 2, offload_optimizer: true}",
                                 "{kind: zero, stage: 3, communication_dtype: fp32, reduce_scatter: false}",
                                 "{kind: zero, stage: 3, offload_optimizer: true, max_live_parameters: 3e8}");
  const auto optimizer = GENERATE(as<std::string>{}, "adamw", "adamw_fused", "sgd_momentum", "lion");
  CAPTURE(strategy, optimizer);
  const auto written = scenario_of(
      "batch_per_gpu: 4, precision: bf16, accumulate: 3, clip_grad_norm: true, compile: true, framework: "
      "deepspeed",
      strategy, optimizer);
  const auto snippet = report::snippet_of(written.job);
  INFO(snippet.text);
  const auto draft = draft_of_deepspeed(read_json_settings(text_file(snippet.file, snippet.text)), options());
  CHECK(draft.notes.empty());
  const auto again = load_scenario_text(scenario_yaml(draft), "mine.yaml", data);
  CHECK(step_of(again) == step_of(written));
}
