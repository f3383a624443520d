// SPDX-License-Identifier: Apache-2.0
// `gradway init`: what it writes runs at once, and says of each line what it does.
#include <cstdlib>
#include <regex>
#include <sstream>

#include <catch2/catch.hpp>

#include "tests/cli/program.hpp"

using namespace gradway::testing;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

std::vector<std::string> init(const std::string& model, const std::string& platform,
                              const std::string& gpus) {
  return {"init", "--model", model, "--platform", platform, "--gpus", gpus};
}

/// Lets the keys count that are offered: "  #accumulate: 4" becomes "  accumulate: 4".
std::string with_offers(const std::string& text) {
  return std::regex_replace(text, std::regex{"(^|\\n)( *)#([a-z_]+:)"}, "$1$2$3");
}

}  // namespace

TEST_CASE("a first scenario runs at once", "[cli][init]") {
  using Row = std::tuple<std::string, std::string, std::string, std::string>;
  const auto [model, platform, gpus, expected] = GENERATE(values<Row>({
      {"llama3_8b", "aws-p5.48xlarge", "64", "\n  kind: fsdp\n"},
      {"llama3_8b", "aws-p5.48xlarge", "64", "\n  param_dtype: bf16\n"},
      {"llama3_8b", "aws-p5.48xlarge", "64", "\n  compile: true\n"},
      {"llama3_70b", "aws-p5.48xlarge", "64", "\n  recompute: full\n"},
      {"mixtral_8x7b", "aws-p5.48xlarge", "64", "torchtitan's DeepSeek-V3"},
      {"resnet50", "dgx-h100", "8", "\n  memory_format: channels_last\n"},
      {"resnet50", "dgx-h100", "8", "\noptimizer: sgd_momentum\n"},
      {"vit_b_16", "dgx-h100", "8", "torchvision's vision transformers"},
      {"vit_l_32", "aws-p4d.24xlarge", "8", "\n  batch_per_gpu: 128\n"},
      {"gpt_small", "workstation-4x-rtx-4090", "4", "\n  kind: ddp\n"},
      {"resnet50", "dgx-1-v100", "1", "\n  precision: fp16\n"},
      {"gpt_medium-h200", "h200-4x", "2", "\n  kind: ddp\n"},
      {"t5_large", "dgx-h100", "1", "\n  kind: none\n"},
      {"ddp-24", "synthetic-ring", "8", "\n  precision: fp32\n"},
  }));
  CAPTURE(model, platform, gpus);
  const TemporaryFolder folder;
  auto arguments = init(model, platform, gpus);
  arguments.insert(arguments.end(), {"-o", "mine.yaml"});

  const auto made = run_gradway(arguments, {.folder = folder.path()});

  REQUIRE(made.status == 0);
  CHECK(made.errors.empty());
  CHECK(made.output == "mine.yaml\n");
  const auto text = content_of(folder.path() / "mine.yaml");
  CHECK_THAT(text, StartsWith("# A scenario to start from: gradway run mine.yaml\n") && Contains(expected));
  const auto run = run_gradway({"run", "mine.yaml"}, {.folder = folder.path()});
  CHECK(run.status == 0);
  CHECK_THAT(run.output, !Contains("does not fit"));
}

TEST_CASE("every key of a first scenario says what it does, and those it offers can be taken",
          "[cli][init]") {
  const auto strategy = GENERATE(as<std::string>{}, "ddp", "fsdp", "fsdp1", "zero", "distributed_optimizer");
  CAPTURE(strategy);
  auto arguments = init("gpt_small", "dgx-h100", "16");
  arguments.insert(arguments.end(), {"--strategy", strategy});
  const auto made = run_gradway(arguments);
  REQUIRE(made.status == 0);
  CHECK_THAT(
      made.output,
      Contains(
          "\n  # number of ranks, one per GPU; the number of nodes follows from the platform (1 to 1048576)\n"
          "  gpus: 16\n"));
  std::istringstream lines{made.output};
  std::string before;
  for (std::string line; std::getline(lines, line); before = line) {
    if (line.find("# ") == std::string::npos) CHECK_THAT(before, Contains("# "));
  }

  const TemporaryFolder folder;
  folder.write("all.yaml", with_offers(made.output));
  CHECK(with_offers(made.output) != made.output);
  const auto run = run_gradway({"show", "plan", "all.yaml"}, {.folder = folder.path()});
  CAPTURE(run.errors);
  CHECK(run.status == 0);
}

TEST_CASE("a first scenario may be named like its model, and stand beside another one", "[cli][init]") {
  const TemporaryFolder folder;
  for (const auto* name : {"vit_l_32.yaml", "two.yaml", "vit_l_32.yaml"}) {
    auto arguments = init("vit_l_32", "dgx-h100", "8");
    arguments.insert(arguments.end(), {"-o", name, "--force"});
    const auto written = run_gradway(arguments, {.folder = folder.path()});
    CHECK(written.errors == "");
    CHECK(written.status == 0);
    CHECK(run_gradway({"run", name}, {.folder = folder.path()}).status == 0);
  }
}

TEST_CASE("a first scenario that does not fit has a warning", "[cli][init]") {
  const auto made = run_gradway(init("gpt3_175b", "dgx-h100", "8"));
  CHECK(made.status == 0);
  CHECK_THAT(made.errors, StartsWith("warning: the job does not fit into the GPUs' memory: "));
}

TEST_CASE("a first scenario replaces nothing without --force", "[cli][init]") {
  const TemporaryFolder folder;
  folder.write("mine.yaml", "mine\n");
  const World world{.folder = folder.path()};
  auto arguments = init("gpt2", "dgx-h100", "8");
  arguments.insert(arguments.end(), {"-o", "mine.yaml"});
  const auto refused = run_gradway(arguments, world);
  CHECK(refused.status == 2);
  CHECK(refused.errors ==
        "error: 'mine.yaml' already exists\n  hint: choose another name, or give --force to replace it\n");
  CHECK(content_of(folder.path() / "mine.yaml") == "mine\n");
  arguments.emplace_back("--force");
  CHECK(run_gradway(arguments, world).status == 0);
  CHECK_THAT(content_of(folder.path() / "mine.yaml"), Contains("model: gpt2\n"));
}

TEST_CASE("on a terminal a first scenario is asked for", "[cli][init]") {
  const TemporaryFolder folder;
  folder.write("answers", "gpt2\np5\naws-p5.48xlarge\nmany\n\n");
  const auto at = [&](const char* name) { return "'" + (folder.path() / name).string() + "'"; };
  // Without an echo of the answers, which the terminal would write in the middle of a question.
  const auto command = "script -qec 'stty -echo; " GRADWAY_PROGRAM " init -o " +
                       (folder.path() / "mine.yaml").string() + "' " + at("log") + " < " + at("answers") +
                       " > " + at("shown");
  CHECK(std::system(command.c_str()) == 0);
  CHECK_THAT(content_of(folder.path() / "shown"),
             Contains("model, a name from 'gradway list models': ") &&
                 Contains("  there is no 'p5'; did you mean 'aws-p5.4xlarge' or 'aws-p5.48xlarge'?") &&
                 Contains("GPUs (8): ") && Contains("'many' is not a whole number"));
  CHECK_THAT(content_of(folder.path() / "mine.yaml"),
             Contains("\nmodel: gpt2\n") && Contains("\n  gpus: 8\n"));
}

TEST_CASE("a first scenario has the settings of its framework's own recipes", "[cli][init]") {
  using Row = std::tuple<std::string, std::string, std::vector<std::string>>;
  const auto [framework, model, expected] = GENERATE(values<Row>({
      {"megatron",
       "llama3_8b",
       {"# Settings as in Megatron-LM's Llama 3", "\n  framework: megatron\n",
        "\n  overlap_grad_reduce: true\n", "\n  overlap_param_gather: true\n", "\noptimizer: adamw_fused\n"}},
      {"megatron", "llama3_70b", {"\n  tensor: 8\n", "\n  sequence: true\n"}},
      {"megatron", "mixtral_8x7b", {"\n  expert: 8\n"}},
      {"deepspeed",
       "llama3_8b",
       {"# Settings as in Hugging Face's examples for DeepSpeed", "\n  framework: deepspeed\n",
        "\n  kind: zero\n", "\n  overlap_comm: true\n"}},
  }));
  CAPTURE(framework, model);
  const TemporaryFolder folder;
  auto arguments = init(model, "aws-p5.48xlarge", "64");
  arguments.insert(arguments.end(), {"--framework", framework, "-o", "mine.yaml"});
  const auto made = run_gradway(arguments, {.folder = folder.path()});
  REQUIRE(made.status == 0);
  CHECK(made.errors.empty());
  const auto text = content_of(folder.path() / "mine.yaml");
  for (const auto& part : expected) CHECK_THAT(text, Contains(part));
  const auto run = run_gradway({"run", "mine.yaml"}, {.folder = folder.path()});
  CHECK(run.status == 0);
  CHECK_THAT(run.output, !Contains("does not fit"));
}
