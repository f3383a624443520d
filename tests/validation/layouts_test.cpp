// SPDX-License-Identifier: Apache-2.0
// Models cut over ranks: our steps of two H200, and Megatron-LM's published ones. Nothing was fitted to the
// latter.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/run/simulate.hpp"

using namespace gradway;

namespace {

struct Found {
  double mean = 0;
  double worst = 0;
  std::size_t inside = 0;
  std::size_t rows = 0;
};

Found errors_of(const std::string& file) {
  const DataPath data{{GRADWAY_SOURCE_DIR}};
  Found found;
  for (const auto& one : load_cases(std::string{GRADWAY_SOURCE_DIR} + "/scenarios/" + file, data).cases) {
    const auto run = simulate(load_scenario(one.scenario_file, one.set, data));
    const auto error = std::abs(run.measured.metrics.step_time / one.measured - 1);
    found.mean += error;
    found.worst = std::max(found.worst, error);
    found.inside += run.range.low <= one.measured && one.measured <= run.range.high ? 1 : 0;
    ++found.rows;
  }
  found.mean /= static_cast<double>(found.rows);
  return found;
}

}  // namespace

TEST_CASE("tensor parallelism and pipelines of two H200 come out as measured", "[validation][layout]") {
  // Goals: mean 4 %, worst 10 %. The bounds are guards; the mean was 6.5 % before the power of kernels
  // followed their rates.
  const auto level = errors_of("h200-2x/parallel.yaml");
  REQUIRE(level.rows == 13);
  CHECK(level.mean < 0.067);
  CHECK(level.worst < 0.15);  // a pipeline whose micro-batches the CPU bounds
  CHECK(level.inside == level.rows);
  // Bound by the CPU, which spreads by 10 to 40 %: goal nine of ten inside.
  const auto noisy = errors_of("h200-2x/parallel-noisy.yaml");
  REQUIRE(noisy.rows == 22);
  CHECK(noisy.inside >= 19);
}

TEST_CASE("steps that the CPU bounds are inside their intervals, and DDP adds what it adds",
          "[validation][host]") {
  const auto errors = errors_of("h200-2x/launch-bound.yaml");
  REQUIRE(errors.rows == 20);
  CHECK(errors.inside == errors.rows);
  CHECK(errors.mean < 0.18);  // the host was slower than others of its kind: 15.5 % on average
  const DataPath data{{GRADWAY_SOURCE_DIR}};
  const auto cases =
      load_cases(std::string{GRADWAY_SOURCE_DIR} + "/scenarios/h200-2x/launch-bound.yaml", data).cases;
  // The step under DDP over that of one rank: mean over the programs.
  struct Times {
    Seconds measured, predicted;
  };
  std::map<std::string, std::map<std::string, Times>> programs;
  for (const auto& row : cases) {
    const auto dash = row.name.rfind('-');
    const auto run = simulate(load_scenario(row.scenario_file, row.set, data));
    programs[row.name.substr(0, dash)][row.name.substr(dash + 1)] = {row.measured,
                                                                     run.measured.metrics.step_time};
  }
  REQUIRE(programs.size() == 7);
  double measured = 0;
  double predicted = 0;
  for (const auto& [program, times] : programs) {
    measured += times.at("ddp").measured / times.at("alone").measured / 7;
    predicted += times.at("ddp").predicted / times.at("alone").predicted / 7;
  }
  CHECK(predicted == Approx(measured).epsilon(0.05));
}

TEST_CASE("programs of transformers and torchvision come out as measured on one, two and four GPUs",
          "[validation][host]") {
  // Predicted before they were measured.
  const auto errors = errors_of("h200-4x/user-programs.yaml");
  REQUIRE(errors.rows == 69);
  CHECK(errors.mean < 0.085);
  CHECK(errors.inside == errors.rows);
}

TEST_CASE("strategies and layouts over four H200 come out as measured", "[validation][layout]") {
  // Predicted before they were measured, but for interleaved pipelines: sim/decisions/0064.
  const auto level = errors_of("h200-4x/layouts.yaml");
  REQUIRE(level.rows == 34);
  CHECK(level.mean < 0.08);
  CHECK(level.worst < 0.16);
  CHECK(level.inside == level.rows);
  const auto noisy = errors_of("h200-4x/layouts-noisy.yaml");
  REQUIRE(noisy.rows == 17);
  CHECK(noisy.inside >= 15);
}

TEST_CASE("Megatron-LM's published steps come out within 8 % on average", "[validation][layout]") {
  const auto found = errors_of("published/megatron-a100.yaml");
  REQUIRE(found.rows == 10);
  CHECK(found.mean < 0.08);
  CHECK(found.inside == found.rows);
}

// What a second layer adds, without the optimizer's part. @source Korthikanti et al., arXiv 2205.05198, table
// 4
TEST_CASE("a layer of Megatron's GPT of 22 billion takes as long on 8 A100s as published",
          "[validation][layout]") {
  const std::string source{GRADWAY_SOURCE_DIR};
  const DataPath data{{source + "/tests/validation/data/recent", source}};
  const auto [recompute, milliseconds] =
      GENERATE(table<std::string, double>({{"none", 19.6}, {"full", 27.2}}));
  const auto passes = [&, recompute = recompute](const std::string& model) {
    const auto run = simulate(
        load_scenario("published/megatron",
                      {{"model", model}, {"job.recompute", recompute}, {"parallel.tensor", "8"}}, data));
    return (run.measured.metrics.step_time - run.measured.metrics.optimizer).value() * 1e3;
  };
  CHECK(passes("megatron_22b_2") - passes("megatron_22b_1") == Approx(milliseconds).epsilon(0.1));
}

// Nothing was fitted to these rows; docs/ACCURACY.md has the table and what is short of the goals.
TEST_CASE("published steps of Blackwell GPUs are simulated in every format", "[validation][layout][fp8]") {
  const auto llama = errors_of("published/mlperf-llama31-8b.yaml");
  REQUIRE(llama.rows == 12);
  CHECK(llama.mean < 0.15);
  const auto adapters = errors_of("published/mlperf-lora.yaml");
  REQUIRE(adapters.rows == 16);
  CHECK(adapters.mean < 0.15);
}

// Nothing was fitted to these rows; docs/ACCURACY.md says what is short. The mean guards against regressions.
TEST_CASE("published steps of Megatron-Bridge's mixtures of experts are simulated",
          "[validation][layout][fp8]") {
  const auto found = errors_of("published/megatron-bridge-moe.yaml");
  REQUIRE(found.rows == 24);
  CHECK(found.mean < 0.23);
  CHECK(found.worst < 0.6);
}

TEST_CASE("all-reduces of a rack of GB200s come out within 10 %", "[validation][layout]") {
  const auto found = errors_of("published/nccl-gb200.yaml");
  REQUIRE(found.rows == 3);
  CHECK(found.worst < 0.1);
}

TEST_CASE("published steps in fp8 come out within a fifth, as those in bf16 on such GPUs do",
          "[validation][layout][fp8]") {
  // torchtitan's rows are with those in bf16; the guard of both is that nothing was fitted to them.
  const auto found = errors_of("published/mlperf-gpt3-h100.yaml");
  REQUIRE(found.rows == 2);
  CHECK(found.mean < 0.16);
  CHECK(found.worst < 0.22);
  CHECK(found.inside == found.rows);
}

TEST_CASE("steps that AMD published of its own GPUs do not come out worse", "[validation][layout][amd]") {
  // No row was fitted: rates are those of single kernels, published by others. The goal is a mean of 10 %,
  // which 10.4 % misses: these limits guard against regressions.
  const auto found = errors_of("published/amd.yaml");
  REQUIRE(found.rows == 3);
  CHECK(found.mean < 0.11);
  CHECK(found.worst < 0.15);
  CHECK(found.inside == found.rows);
}
