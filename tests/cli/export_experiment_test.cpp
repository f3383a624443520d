// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "sim/config/config.hpp"
#include "tests/cli/program.hpp"

using namespace gradway;
using namespace gradway::testing;
using Catch::Matchers::Contains;

namespace {

Outcome exported(const std::filesystem::path& folder, const std::vector<std::string>& set) {
  std::vector<std::string> arguments{"export", "experiment", "h200-4x/resnet50", "-o", folder.string()};
  for (const auto& one : set) arguments.insert(arguments.end(), {"--set", one});
  return run_gradway(arguments);
}

/// Runs a command of the shell in a folder. @return its exit status
int shell(const std::filesystem::path& folder, const std::string& command) {
  return std::system(fmt::format("cd '{}' && {}", folder.string(), command).c_str());
}

/// All that runs the experiment.
std::string content(const std::filesystem::path& folder) {
  return content_of(folder / "train.py") + content_of(folder / "run.sh");
}

}  // namespace

TEST_CASE("an experiment's program counts the simulator's parameters", "[cli][export]") {
  const auto* const model = GENERATE("gpt_small", "gpt2", "llama3_8b", "qwen3_4b", "gpt_neox_20b", "opt_125m",
                                     "vit_l_32", "resnet50", "resnext101_32x8d", "convnext_base");
  CAPTURE(model);
  const TemporaryFolder folder;
  REQUIRE(exported(folder.path(), {fmt::format("model={}", model), "job.batch_per_gpu=1"}).status == 0);
  REQUIRE(shell(folder.path(), "python3 -m py_compile train.py && python3 train.py --count > count") == 0);
  const auto count = load_model(model, {{GRADWAY_SOURCE_DIR}}).parameter_count();
  CHECK(content_of(folder.path() / "count") == fmt::format("{}\n", count));
}

TEST_CASE("the programs that experiments are filled into run as they are", "[cli][export]") {
  const auto* const family = GENERATE("decoder", "vision_transformer", "residual", "conv_next");
  CAPTURE(family);
  const std::filesystem::path folder = GRADWAY_SOURCE_DIR "/writers/experiment";
  const auto python = [&](const std::string& arguments) {
    return shell(folder, "PYTHONDONTWRITEBYTECODE=1 python3 " + arguments);
  };
  CHECK(python(fmt::format("-c 'import {0}; assert {0}.parameter_count() > 1e6'", family)) == 0);
  CHECK(python("train.py --count > /dev/null") == 0);
  CHECK(shell(folder, "bash -n run.sh && bash -n check.sh") == 0);
}

TEST_CASE("an experiment's result is a file of cases that validates alone", "[cli][export]") {
  const TemporaryFolder folder;
  const auto written = exported(folder.path(), {"model=gpt_small", "strategy.comm_hook=powersgd",
                                                "nccl.NCCL_ALGO=Ring", "nccl.NCCL_MAX_NCHANNELS=4"});
  REQUIRE(written.status == 0);
  CHECK(shell(folder.path(), "bash -n run.sh && bash -n check.sh && python3 train.py --cases 50") == 0);
  CHECK_THAT(content_of(folder.path() / "run.sh"),
             Contains("export NCCL_ALGO=Ring") && Contains("--nnodes=1 --nproc-per-node=4"));
  CHECK(shell(folder.path(), fmt::format("GRADWAY='{}' bash check.sh > checked", GRADWAY_PROGRAM)) == 0);
  CHECK_THAT(content_of(folder.path() / "checked"), Contains("measured     50 ms"));
  // The program has the prediction with which the step is compared.
  const auto run = run_gradway({"run", "h200-4x/resnet50", "--set", "model=gpt_small", "--set",
                                "strategy.comm_hook=powersgd", "--set", "nccl.NCCL_ALGO=Ring", "--set",
                                "nccl.NCCL_MAX_NCHANNELS=4"});
  const auto readme = content_of(folder.path() / "README.md");
  const auto from = readme.find("a step of ") + 10;
  const auto step = readme.substr(from, readme.find(';', from) - from);
  CHECK_THAT(run.output, Contains("step time    " + step));
  CHECK_THAT(content_of(folder.path() / "checked"), Contains(step));
}

TEST_CASE("an experiment has each setting of the scenario or refuses it by name", "[cli][export]") {
  const TemporaryFolder folder;
  const std::vector<std::string> decoder{"model=gpt_small"};
  const std::vector<std::string> image{"model=resnet50"};
  struct Row {
    std::vector<std::string> base;
    std::string set;
    std::string named;  ///< what a refusal names; "": the program changes
  };
  const std::vector<Row> rows{{decoder, "job.gpus=2", ""},
                              {decoder, "job.batch_per_gpu=3", ""},
                              {decoder, "job.precision=fp16", ""},
                              {decoder, "job.precision=tf32", ""},
                              {decoder, "job.precision=fp8", "job.precision fp8"},
                              {decoder, "job.state_dtype=bf16", ""},
                              {decoder, "job.accumulate=2", ""},
                              {decoder, "job.attention=math", ""},
                              {decoder, "job.attention=composed", "job.attention composed"},
                              {image, "job.memory_format=channels_last", ""},
                              {decoder, "job.compile=true", ""},
                              {decoder, "job.fused_loss=true", "job.fused_loss"},
                              {{"model=llama3_2_3b"}, "job.composed_norms=true", ""},
                              {{"model=llama3_2_3b"}, "job.implementation=huggingface", ""},
                              {decoder, "job.recompute=full", ""},
                              {decoder, "job.zero_grad=after_step", ""},
                              {decoder, "job.float_logits=false", ""},
                              {decoder, "job.launch_blocking=true", ""},
                              {decoder, "job.cuda_graphs=layers", "job.cuda_graphs layers"},
                              {decoder, "job.clip_grad_norm=true", ""},
                              {decoder, "job.slow_gpu=1.5", "job.slow_gpu"},
                              {decoder, "job.sequence=512", ""},
                              {decoder, "job.finetune=lora", "job.finetune"},
                              {decoder, "optimizer=adamw_fused", ""},
                              {decoder, "optimizer=lion", "optimizer lion"},
                              {decoder, "parallel.tensor=2", "parallel.tensor"},
                              {decoder, "strategy.bucket_cap=50 MiB", ""},
                              {decoder, "strategy.static_graph=true", ""},
                              {decoder, "strategy.gradient_as_bucket_view=true", ""},
                              {decoder, "strategy.comm_hook=bf16", ""},
                              {decoder, "strategy.zero_redundancy=true", ""},
                              {decoder, "strategy={kind: zero}", "strategy.kind zero"},
                              {decoder, "strategy={kind: fsdp1}", ""},
                              {decoder, "strategy={kind: fsdp, wrap: 2 blocks}", ""},
                              {decoder, "strategy={kind: fsdp, reshard_after_forward: false}", ""},
                              {decoder, "strategy={kind: fsdp, param_dtype: bf16, reduce_dtype: fp32}", ""},
                              {decoder, "strategy={kind: fsdp, forward_prefetch: 1}", ""},
                              {decoder, "strategy={kind: fsdp, cpu_offload: true}", ""},
                              {decoder, "nccl.NCCL_P2P_DISABLE=1", ""},
                              {decoder, "input.pin_memory=false", ""},
                              {image, "input.dataset=imagenet-1k", "input.dataset"},
                              {decoder, "model=mixtral_8x7b", "experts"},
                              {decoder, "model=bert_base_squad", "bert_base_squad"}};
  std::map<std::string, std::string> plain;
  for (const auto& row : rows) {
    CAPTURE(row.set);
    const auto name = row.base.front();
    if (!plain.contains(name)) {
      REQUIRE(exported(folder.path() / "plain", row.base).status == 0);
      plain[name] = content(folder.path() / "plain");
    }
    auto set = row.base;
    if (row.set.starts_with("model=")) set.clear();
    set.push_back(row.set);
    const auto outcome = exported(folder.path() / "set", set);
    if (row.named.empty()) {
      REQUIRE(outcome.errors.find("error") == std::string::npos);
      CHECK(shell(folder.path() / "set", "python3 -m py_compile train.py && bash -n run.sh") == 0);
      // OVERRIDES and the prediction differ anyway.
      const auto changed = content(folder.path() / "set");
      const auto without = [](const std::string& text) {
        const auto from = text.find("PREDICTION = {");
        return std::string{text}.erase(from, text.find("MODEL = {") - from);
      };
      CHECK(without(changed) != without(plain[name]));
    } else {
      CHECK(outcome.status == 2);
      CHECK_THAT(outcome.errors, Contains(row.named));
    }
  }
}

TEST_CASE("an experiment does not replace files of others", "[cli][export]") {
  const TemporaryFolder folder;
  folder.write("train.py", "print('mine')\n");
  const auto outcome = exported(folder.path(), {"model=resnet50"});
  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.errors, Contains("train.py' already exists and was not written by this command"));
  CHECK(content_of(folder.path() / "train.py") == "print('mine')\n");
  CHECK_FALSE(std::filesystem::exists(folder.path() / "run.sh"));
  std::filesystem::remove(folder.path() / "train.py");
  CHECK(exported(folder.path(), {"model=resnet50"}).status == 0);
  CHECK(exported(folder.path(), {"model=vit_b_16"}).status == 0);  // its own files
}
