// SPDX-License-Identifier: Apache-2.0
// Keys that are set in a scenario that was read have the effect that reading it with them has.
#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/config/set_keys.hpp"

using namespace gradway;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};

Job job_with(const std::string& name, const Settings& set) {
  auto job = load_scenario(name, {}, data).job;
  set_keys(job, set);
  return job;
}

Job read_with(const std::string& name, const Settings& set) {
  std::vector<Override> overrides;
  for (const auto& [key, value] : set) overrides.push_back({key, value});
  return load_scenario(name, overrides, data).job;
}

}  // namespace

TEST_CASE("keys of each group are set as the reader sets them", "[config]") {
  const Settings set{{"job.precision", "bf16"},        {"job.compile", "true"},
                     {"optimizer", "adamw_fused"},     {"strategy.reshard_after_forward", "false"},
                     {"strategy.param_dtype", "bf16"}, {"strategy.wrap", "4 blocks"},
                     {"parallel.replicate", "2"},      {"nccl.NCCL_ALGO", "Ring"},
                     {"network.round_trip", "2 ms"},   {"input.pin_memory", "false"}};
  const auto job = job_with("campaign/llama2_7b-aws-p5", set);
  const auto expected = read_with("campaign/llama2_7b-aws-p5", set);
  CHECK(job.precision == expected.precision);
  CHECK(job.compiled == expected.compiled);
  CHECK(job.optimizer == expected.optimizer);
  CHECK(job.strategy == expected.strategy);
  CHECK(job.nccl == expected.nccl);
  CHECK(job.network.round_trip == expected.network.round_trip);
  CHECK(job.input.pin_memory == expected.input.pin_memory);
}

TEST_CASE("a key without a text is left out", "[config]") {
  const auto job = job_with("article/g6e", {{"strategy.bucket_cap", ""}, {"job.accumulate", ""}});
  CHECK(std::get<Ddp>(job.strategy).bucket_cap == std::nullopt);
  CHECK(job.accumulate == Job{}.accumulate);
}

TEST_CASE("a value that its key does not allow is refused", "[config]") {
  CHECK_THROWS_AS(job_with("article/g6e", {{"strategy.comm_hook", "fp4"}}), ConfigError);
  CHECK_THROWS_AS(job_with("article/g6e", {{"input.loader_workers", "1000000"}}), ConfigError);
}

TEST_CASE("the value of a key is copied from one strategy to another", "[config]") {
  Strategy target = Fsdp{.forward_prefetch = 1};
  const Strategy source = Fsdp{.wrap = {4}, .forward_prefetch = 2, .replicate = 2};
  copy_key(target, source, "wrap");
  copy_key(target, source, "replicate");
  CHECK(target == Strategy{Fsdp{.wrap = {4}, .forward_prefetch = 1, .replicate = 2}});
}
