// SPDX-License-Identifier: Apache-2.0
// The printed settings reproduce the layout that was found.
#include <algorithm>

#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/report/search/layouts.hpp"
#include "sim/study/search/layouts.hpp"

using namespace gradway;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};
constexpr int samples = 64;

std::vector<Override> small_decoder(const std::string& model, const std::string& framework) {
  return {{"model", model},
          {"platform", "dgx-h100"},
          {"job", "{gpus: 16, batch_per_gpu: 2, precision: bf16, framework: " + framework + "}"},
          {"strategy", "{kind: ddp}"}};
}

}  // namespace

TEST_CASE("the settings of each candidate are valid in a scenario and reproduce it", "[report][layout]") {
  const auto [model, framework] = GENERATE(table<std::string, std::string>(
      {{"gpt_124m", "megatron"}, {"gpt_124m", "pytorch"}, {"deepseek_v2_lite", "megatron"}}));
  const auto written = small_decoder(model, framework);
  const auto candidates =
      candidate_layouts(load_scenario("sharded/llama2_7b", written, data), samples, false);
  REQUIRE(candidates.size() > 20);
  for (std::size_t i = 0; i < candidates.size(); i += 7) {
    const auto& job = candidates[i];
    auto set = written;
    for (const auto& [key, value] : report::settings_of(job)) {
      std::erase_if(set, [&](const Override& other) { return other.key == key; });
      set.push_back({key, value});
    }
    INFO(report::settings_of(job)[0].second << " " << report::settings_of(job)[1].second);
    const auto loaded = load_scenario("sharded/llama2_7b", set, data).job;
    CHECK(loaded.strategy == job.strategy);
    CHECK(loaded.layout.model_parallel_ranks() == job.layout.model_parallel_ranks());
    CHECK(loaded.layout.sequence == job.layout.sequence);
    CHECK(loaded.layout.schedule == job.layout.schedule);
    CHECK(loaded.layout.chunks == job.layout.chunks);
    CHECK(loaded.layout.stage_layout == job.layout.stage_layout);
    CHECK(loaded.samples() == samples);
    CHECK(runs_blocks_again(loaded.recompute) == runs_blocks_again(job.recompute));
  }
}
