// SPDX-License-Identifier: Apache-2.0
// `optimize --layout` as its users call it.
#include <map>
#include <sstream>

#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

using namespace gradway::testing;
using Catch::Matchers::Contains;
using Json = nlohmann::json;

namespace {

/// GPT-2 on a node.
std::vector<std::string> layout_search(const std::string& framework, std::vector<std::string> more,
                                       const std::string& strategy = "{kind: ddp}") {
  std::vector<std::string> arguments{"optimize", "sharded/llama2_7b", "--layout"};
  for (const auto& set :
       {std::string{"model=gpt_124m"}, std::string{"platform=dgx-h100"}, "strategy=" + strategy,
        "job={gpus: 8, batch_per_gpu: 2, precision: bf16, framework: " + framework + "}"}) {
    arguments.emplace_back("--set");
    arguments.push_back(set);
  }
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::string error_of(const std::vector<std::string>& arguments) {
  const auto outcome = run_gradway(arguments);
  CHECK(outcome.status == 2);
  CHECK(outcome.output.empty());
  return outcome.errors;
}

}  // namespace

TEST_CASE("the figures of the best layout are those of run", "[cli][optimize]") {
  const auto framework = GENERATE(std::string{"megatron"}, std::string{"pytorch"});
  const auto outcome = run_gradway(layout_search(framework, {"--json"}));
  CAPTURE(outcome.errors);
  REQUIRE(outcome.status == 0);
  const auto found = Json::parse(outcome.output);
  const auto& best = found.at("layouts").at(0);
  CHECK(found.at("global_batch") == 16);
  CHECK(found.contains(framework == "megatron" ? "megatron" : "torchtitan"));
  std::vector<std::string> arguments{"run", "sharded/llama2_7b", "--json", "--engine", "fluid"};
  auto set = best.at("set").get<std::map<std::string, std::string>>();
  set.merge(std::map<std::string, std::string>{{"model", "gpt_124m"},
                                               {"platform", "dgx-h100"},
                                               {"job.gpus", "8"},
                                               {"job.precision", "bf16"},
                                               {"job.framework", framework}});
  for (const auto& [key, value] : set) {
    arguments.emplace_back("--set");
    arguments.push_back(key + "=" + value);
  }
  const auto run = run_gradway(arguments);
  CAPTURE(run.errors);
  REQUIRE(run.status == 0);
  CHECK(Json::parse(run.output).at("metrics").at("step_time_s").get<double>() ==
        Approx(best.at("step_time_s").get<double>()).epsilon(1e-9));
}

TEST_CASE("the table of layouts has the settings to paste", "[cli][optimize]") {
  const auto megatron = run_gradway(layout_search("megatron", {"--global-batch", "64"}));
  CAPTURE(megatron.errors);
  REQUIRE(megatron.status == 0);
  for (const auto* part : {"  best ", "--set 'parallel={tensor: ", "--tensor-model-parallel-size ",
                           "--global-batch-size 64", "--use-distributed-optimizer", "  tried "})
    CHECK_THAT(megatron.output, Contains(part));
  const auto unfused = run_gradway(layout_search(
      "megatron, fusions: none", {}, "{kind: distributed_optimizer, gradient_accumulation_fusion: false}"));
  CHECK_THAT(unfused.output, Contains("--no-bias-swiglu-fusion --no-bias-gelu-fusion") &&
                                 Contains("--no-rope-fusion") &&
                                 Contains("--no-gradient-accumulation-fusion"));
  const auto pytorch = run_gradway(layout_search("pytorch", {}));
  REQUIRE(pytorch.status == 0);
  for (const auto* part : {"[parallelism]\n", "data_parallel_shard_degree = ", "global_batch_size = 16"})
    CHECK_THAT(pytorch.output, Contains(part));
}

TEST_CASE("the result of a layout search does not depend on the number of threads", "[cli][optimize]") {
  const auto one = run_gradway(layout_search("megatron", {"--json", "--jobs", "1"}));
  REQUIRE(one.status == 0);
  CHECK(run_gradway(layout_search("megatron", {"--json", "--jobs", "3"})).output == one.output);
}

TEST_CASE("an impossible search of layouts is refused with a hint", "[cli][optimize]") {
  CHECK_THAT(error_of({"optimize", "article/g6e", "--global-batch", "64"}), Contains("give '--layout' too"));
  CHECK_THAT(error_of({"optimize", "article/g6e", "--layout", "--over", "bucket_cap"}),
             Contains("leave one of them out"));
  CHECK_THAT(error_of({"optimize", "article/g6e", "--layout", "--lossy"}), Contains("leave it out"));
  CHECK_THAT(error_of(layout_search("megatron", {"--global-batch", "many"})), Contains("--global-batch"));
  CHECK_THAT(error_of(layout_search("megatron", {"--set", "job.recompute=full"})),
             Contains("'job.recompute' is set and searched"));
  CHECK_THAT(error_of(layout_search("deepspeed", {})), Contains("job.framework=megatron"));
  CHECK_THAT(error_of({"optimize", "article/g6e", "--layout", "--set", "model=resnet50-h200", "--set",
                       "job.precision=bf16"}),
             Contains("it cannot be distributed"));
  CHECK_THAT(error_of({"optimize", "sharded/llama2_7b", "--layout", "--set", "job.gpus=1"}),
             Contains("no layout fits: "));
}

TEST_CASE("optimize --layout shows as many layouts as asked for", "[cli][optimize]") {
  const auto rows = [](const std::vector<std::string>& more) {
    const auto outcome = run_gradway(layout_search("pytorch", more));
    REQUIRE(outcome.status == 0);
    int found = 0;
    std::istringstream lines{outcome.output};
    for (std::string line; std::getline(lines, line);) {
      const bool is_row = line.starts_with("t") && line.find(" mb") != std::string::npos &&
                          line.find("smaller") == std::string::npos && line.find(';') == std::string::npos;
      found += is_row ? 1 : 0;
    }
    return found;
  };
  CHECK(rows({"--top", "2"}) <= 2);
  CHECK(rows({"--top", "2"}) < rows({"--top", "12"}));
  CHECK_THAT(error_of({"optimize", "article/g6e", "--top", "3"}), Contains("'--top' needs '--layout'"));
  CHECK_THAT(error_of(layout_search("pytorch", {"--top", "0"})), Contains("--top"));
}
