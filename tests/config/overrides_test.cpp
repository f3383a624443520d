// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/config/find/scenario_keys.hpp"
#include "tests/support/config_files.hpp"

using namespace gradway;

namespace {

const std::string full = GRADWAY_SOURCE_DIR "/tests/config/good/full.yaml";

Scenario with(const std::vector<Override>& overrides) {
  return load_scenario(full, overrides, {});
}

}  // namespace

TEST_CASE("an override replaces one value and leaves its neighbours", "[config][set]") {
  const auto job = with({{"strategy.bucket_cap", "100 MB"}, {"job.gpus", "3"}}).job;

  CHECK(std::get<Ddp>(job.strategy).bucket_cap == 100_MB);
  CHECK(std::get<Ddp>(job.strategy).static_graph);
  CHECK(job.gpus == 3);
  CHECK(job.batch_per_gpu == 32);
}

TEST_CASE("an override can replace a whole group", "[config][set]") {
  const auto job = with({{"strategy", "{kind: ddp}"}, {"nccl", "{}"}}).job;

  CHECK_FALSE(std::get<Ddp>(job.strategy).bucket_cap.has_value());
  CHECK(std::get<Ddp>(job.strategy).comm_hook == CommHook::none);
  CHECK(job.nccl.empty());
}

TEST_CASE("the last override of a key wins", "[config][set]") {
  CHECK(with({{"job.gpus", "1"}, {"job.gpus", "2"}}).job.gpus == 2);
}

TEST_CASE("an override can set what the file leaves out", "[config][set]") {
  const auto job = load_scenario(GRADWAY_SOURCE_DIR "/tests/config/good/small.yaml",
                                 {{"nccl.NCCL_ALGO", "ring"}, {"job.accumulate", "2"}, {"steps", "4"}}, {})
                       .job;

  CHECK(job.nccl.at("NCCL_ALGO") == "Ring");
  CHECK(job.accumulate == 2);
  CHECK(job.steps == 4);
}

TEST_CASE("an override of model or platform swaps the file", "[config][set]") {
  const auto scenario = with({{"model", "words"}, {"platform", "cheap-lab"}});

  CHECK(scenario.model.name == "words");
  CHECK(scenario.platform.name == "cheap-lab");
}

TEST_CASE("strategy.kind=none takes away what the file says about DDP", "[config][set]") {
  const auto strategy = with({{"strategy.kind", "none"}, {"job.gpus", "1"}}).job.strategy;

  CHECK(std::holds_alternative<NoExchange>(strategy));
}

TEST_CASE("strategy.kind=none removes every key of DDP", "[config][set]") {
  const test::TemporaryFolder here;
  here.write("run.yaml",
             "schema: 1\nmodel: words\nplatform: cheap-lab\njob: { gpus: 2, batch_per_gpu: 1 }\n"
             "strategy: { kind: ddp, zero_redundancy: true, parameters_as_bucket_view: true }\n");
  const DataPath data{{GRADWAY_SOURCE_DIR "/tests/config/good"}};
  const auto scenario = load_scenario((here.path() / "run.yaml").string(),
                                      {{"strategy.kind", "none"}, {"job.gpus", "1"}}, data);

  CHECK(std::holds_alternative<NoExchange>(scenario.job.strategy));
}

TEST_CASE("another kind of strategy removes the keys that it does not have", "[config][set]") {
  const test::TemporaryFolder here;
  here.write("run.yaml",
             "schema: 1\nmodel: words\nplatform: cheap-lab\njob: { gpus: 2, batch_per_gpu: 1 }\n"
             "strategy: { kind: fsdp, wrap: whole, forward_prefetch: 2, cpu_offload: true }\n"
             "parallel: { replicate: 2 }\n");
  const auto changed = [&](const std::vector<Override>& overrides) {
    const DataPath data{{GRADWAY_SOURCE_DIR "/tests/config/good"}};
    return load_scenario((here.path() / "run.yaml").string(), overrides, data).job.strategy;
  };

  const auto fsdp1 = std::get<Fsdp1>(changed({{"strategy.kind", "fsdp1"}}));
  CHECK(fsdp1.wrap.blocks == 0);
  CHECK(fsdp1.replicate == 2);
  CHECK_FALSE(fsdp1.forward_prefetch);  // a number in FSDP2

  CHECK(std::holds_alternative<Ddp>(changed({{"strategy.kind", "ddp"}})));
  CHECK(std::get<Zero>(changed({{"strategy.kind", "zero"}, {"strategy.stage", "3"}})).stage == 3);
  CHECK(std::get<Fsdp>(changed({{"strategy.kind", "fsdp"}})).forward_prefetch == 2);
  CHECK_THROWS_AS(changed({{"strategy.kind", "ddp"}, {"strategy.wrap", "block"}}), ConfigError);
}

TEST_CASE("a layout without an axis removes the keys of that axis", "[config][set]") {
  const auto layout_with = [](const std::vector<Override>& overrides) {
    const DataPath data{{GRADWAY_SOURCE_DIR}};
    return load_scenario(GRADWAY_SOURCE_DIR "/scenarios/layouts/llama3_70b.yaml", overrides, data).job.layout;
  };

  const auto one_stage = layout_with({{"parallel.pipeline", "1"}});
  CHECK(one_stage.chunks == 1);
  CHECK(one_stage.schedule == Schedule::one_f_one_b);
  CHECK(one_stage.tensor == 8);
  CHECK_FALSE(layout_with({{"parallel.tensor", "1"}}).sequence);
  CHECK(layout_with({{"parallel.schedule", "1f1b"}}).chunks == 1);
  CHECK(layout_with({{"parallel.schedule", "looped_bfs"}}).chunks == 5);
  CHECK_THROWS_AS(layout_with({{"parallel.pipeline", "1"}, {"parallel.virtual", "2"}}), ConfigError);
}

TEST_CASE("another hook takes away the rank of PowerSGD", "[config][set]") {
  CHECK(std::get<Ddp>(with({{"strategy.comm_hook", "bf16"}}).job.strategy).powersgd_rank == 1);
  CHECK(std::get<Ddp>(with({{"strategy.comm_hook", "powersgd"}}).job.strategy).powersgd_rank == 2);
}

TEST_CASE("every key of a scenario that is said to exist can be set", "[config][set]") {
  for (const auto& key : config::scenario_keys()) {
    CAPTURE(key);
    std::string message;
    try {
      with({{key, "[no value]"}});
    } catch (const ConfigError& error) {
      message = error.what();
    }
    CHECK(message.find("--set " + key + "=[no value]: error: ") != std::string::npos);
    CHECK(message.find("unknown key") == std::string::npos);
  }
}
