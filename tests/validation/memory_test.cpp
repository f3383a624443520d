// SPDX-License-Identifier: Apache-2.0
// What PyTorch said it had allocated at most (torch.cuda.max_memory_allocated) in our own runs on H200
// (2026-11-21, PyTorch 2.11), against the estimate from the models' shapes.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sim/compute/compute_costs.hpp"
#include "sim/compute/profile_costs.hpp"
#include "sim/config/config.hpp"
#include "sim/plan/memory.hpp"
#include "tests/support/profiles.hpp"

using namespace gradway;

namespace {

const std::string root = GRADWAY_SOURCE_DIR;

/// "ddp:cap=25:static:view:bf16" as keys of a scenario.
std::vector<Override> overrides_of(const nlohmann::json& row, const std::string& model) {
  std::vector<Override> set{{"model", model},
                            {"job.gpus", std::to_string(row.at("world").get<int>())},
                            {"job.batch_per_gpu", std::to_string(row.at("batch").get<int>())}};
  std::istringstream words{row.at("config").get<std::string>()};
  for (std::string word; std::getline(words, word, ':');) {
    const auto value = word.substr(word.find('=') + 1);
    if (word == "single") set.push_back({"strategy", "{ kind: none }"});
    if (word.starts_with("cap=")) set.push_back({"strategy.bucket_cap", value + " MiB"});
    if (word == "static") set.push_back({"strategy.static_graph", "true"});
    if (word == "view") set.push_back({"strategy.gradient_as_bucket_view", "true"});
    if (word == "bf16") set.push_back({"strategy.comm_hook", "bf16"});
    if (word.starts_with("psgd=")) {
      set.push_back({"strategy.comm_hook", "powersgd"});
      set.push_back({"strategy.powersgd_rank", value});
    }
    if (word.starts_with("accum=")) set.push_back({"job.accumulate", value});
  }
  return set;
}

Bytes megabytes(const nlohmann::json& value) {
  return Bytes{value.get<double>() * 1e6};
}

/// What `gradway import kineto` made of the trace, as far as memory needs it.
Profile profile_of(const nlohmann::json& row) {
  auto profile = test::even_profile(1, 1_us, 1_us);
  profile.batch = row.at("batch");
  profile.gradients = {{{row.at("parameter_bytes").get<std::int64_t>() / 2}, 2, 2}};
  profile.memory_from = MemorySource::shapes;
  if (row.contains("keeps_gradients")) profile.keeps_gradients = row.at("keeps_gradients").get<bool>();
  const bool keeps_output = row.at("keeps_output");
  for (const auto& moment : row.at("memory_mb")) {
    profile.memory.push_back(
        {.phase = moment.at(0) == "forward" ? ProfiledPhase::forward : ProfiledPhase::backward,
         .grows = megabytes(moment.at(1)) + (keeps_output ? megabytes(moment.at(4)) : 0_B),
         .fixed = megabytes(moment.at(2)),
         .gradients = megabytes(moment.at(3))});
  }
  return profile;
}

}  // namespace

TEST_CASE("the peak of memory is met within 10 % on every run, and within 2 % on average", "[validation]") {
  // by the architecture, and by a profile of one GPU
  const std::string kind = GENERATE("", "-h200");
  std::ifstream file{root + "/tests/validation/data/peak-memory.jsonl"};
  int rows = 0;
  double sum = 0;
  for (std::string line; std::getline(file, line); ++rows) {
    const auto row = nlohmann::json::parse(line);
    const auto scenario =
        load_scenario("h200-4x/" + row.at("model").get<std::string>(),
                      overrides_of(row, row.at("model").get<std::string>() + kind), DataPath{{root}});
    const auto use = memory_use(scenario, compute_costs(scenario).memory, *make_sync(scenario));
    // The peak of the whole run, with the step in which DDP's first buckets are still there.
    const auto predicted = (std::max(use.allocated(), use.in(RunPart::rebuilt_buckets))).value() / 1e9;
    // Its loop kept the logits of 16 bits until the step was over.
    const auto of_loop = row.at("model") == "gpt_small" ? 2e-9 * 8 * 1024 * 50304 : 0;
    const auto error = predicted / (row.at("peak_gb").get<double>() - of_loop) - 1;
    CAPTURE(line, kind, predicted);
    CHECK(std::abs(error) < 0.1);
    sum += std::abs(error);
  }
  REQUIRE(rows == 47);
  CHECK(sum / rows < 0.02);
}

TEST_CASE("memory from a profile is met within 3 % on every run, and within 1 % on average", "[validation]") {
  // Own runs on H200 (2026-11-21 and 22, PyTorch 2.11), and of programs of Hugging Face and torchvision on
  // H100 (2026-11-24; transformers 5.17, torchvision 0.26; keeps_gradients: false). data/profile-memory.jsonl
  // has what the importer made of their traces and the peaks of runs without the profiler, of these batches
  // and others.
  std::ifstream file{root + "/tests/validation/data/profile-memory.jsonl"};
  int runs = 0;
  double sum = 0;
  for (std::string line; std::getline(file, line);) {
    const auto row = nlohmann::json::parse(line);
    auto scenario = test::profiled_scenario(profile_of(row));
    scenario.platform.gpu_models.front().compute_capability = 90;
    // Our own loops kept gradients through the next forward pass; traces of the others say what theirs did.
    if (!scenario.model.profile->keeps_gradients) scenario.job.zero_grad = ZeroGrad::before_backward;
    scenario.model.input_per_sample = Bytes{row.at("input_bytes").get<double>()};
    // The loop of the runs of gpt_medium kept the logits of the step before through the next forward pass,
    // which the profiler recorded and shapes do not tell.
    const bool kept_twice = row.at("trace") == "gpt_medium (shapes)";
    for (const auto& run : row.at("runs")) {
      scenario.job.batch_per_gpu = run.at("batch");
      const auto* const word = std::ranges::find(optimizer_words, run.at("optimizer").get<std::string>());
      REQUIRE(word != optimizer_words.end());
      scenario.job.optimizer = static_cast<Optimizer>(word - optimizer_words.begin());
      const auto& profile = *scenario.model.profile;
      const auto predicted =
          memory_use(scenario, memory_of_profile(profile, scenario.job), *make_sync(scenario));
      const auto of_loop = kept_twice ? 2.0 * scenario.job.batch_per_gpu * 1024 * 50304 : 0;
      const auto error = predicted.allocated().value() / (run.at("peak_bytes").get<double>() - of_loop) - 1;
      CAPTURE(row.at("trace"), run.dump(), predicted.allocated().value(), error);
      CHECK(std::abs(error) < 0.03);  // a guard, as below: the goals are 5 and 2 %
      sum += std::abs(error);
      ++runs;
    }
  }
  REQUIRE(runs == 73);
  CHECK(sum / runs < 0.01);
}
