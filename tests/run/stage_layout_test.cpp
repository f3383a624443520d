// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/run/simulate.hpp"
#include "sim/scenario/pipeline/stage_layout.hpp"
#include "sim/scenario/pipeline/stages.hpp"

using namespace gradway;

namespace {

const std::string root = GRADWAY_SOURCE_DIR;

Scenario uneven(const std::string& layout) {
  return load_scenario("keys/uneven-stages", {{"parallel.stage_layout", "'" + layout + "'"}},
                       DataPath{{root}});
}

}  // namespace

TEST_CASE("a layout of stages is read in Megatron's words") {
  using Blocks = std::vector<int>;
  CHECK(read_stage_layout("").blocks.empty());
  CHECK(read_stage_layout("EtL").blocks == Blocks{1});
  CHECK(read_stage_layout("Ettt|t,t|L").blocks == Blocks{3, 2, 0});
  CHECK(read_stage_layout("E|(t|)*2t*3L").blocks == Blocks{0, 1, 1, 3});
  Blocks deepseek_v3{3};
  deepseek_v3.insert(deepseek_v3.end(), 29, 2);
  deepseek_v3.insert(deepseek_v3.end(), {0, 0});
  CHECK(read_stage_layout("Et*3|(tt|)*29|L").blocks == deepseek_v3);
}

TEST_CASE("a layout of stages is written as it is read") {
  using Blocks = std::vector<int>;
  CHECK(stage_layout_of({3, 4, 4, 2}) == "Et*3|(t*4|)*2t*2L");
  for (const auto& blocks : {Blocks{1, 1}, Blocks{0, 5, 6, 6, 0}, Blocks{3, 4, 2}})
    CHECK(read_stage_layout(stage_layout_of(blocks)).blocks == blocks);
}

TEST_CASE("stages are nearly even if three blocks are missing at most") {
  using Blocks = std::vector<int>;
  CHECK(nearly_even_stages(61, 4) == Blocks{15, 16, 16, 14});
  CHECK(nearly_even_stages(94, 4) == Blocks{23, 24, 24, 23});
  CHECK(nearly_even_stages(12, 4) == Blocks{3, 3, 3, 3});
  CHECK(nearly_even_stages(28, 8).empty());  // four are missing
  CHECK(nearly_even_stages(61, 32).empty());
}

TEST_CASE("what is no layout of stages is refused") {
  for (const char* text : {"t|tL", "Et|t", "EEt|tL", "Et|tLt", "E*|L", "*3EtL", "E(t|tL", "Ex|tL", "Et|mL",
                           "|||", "Et*0|L", "Et*99999999|L"})
    CHECK_FALSE(read_stage_layout(text).problem.empty());
}

TEST_CASE("stages have the blocks of their layout, and the ends what is outside of blocks") {
  const auto scenario = uneven("E|t*6|t*6|L");
  const auto& model = scenario.model;
  const auto stages = stages_of_layers(model, pipeline_of(scenario.job.layout));
  CHECK(stages.front() == 0);
  CHECK(stages.back() == 3);
  CHECK(std::ranges::count(stages, 1) == std::ranges::count(stages, 2));
  CHECK(std::ranges::is_sorted(stages));
}

TEST_CASE("a stage with more blocks takes longer and holds more") {
  const auto memory_of = [](const Scenario& scenario) {
    std::vector<double> parameters;
    for (const auto& program : simulate(scenario, "fluid").measured.by_program)
      parameters.push_back(program.memory.parameters.value());
    return parameters;
  };
  const auto even = memory_of(uneven("Et*3|t*3|t*3|t*3L"));
  auto default_layout = uneven("Et*3|t*3|t*3|t*3L");
  default_layout.job.layout.stage_layout.clear();
  CHECK(even == memory_of(default_layout));  // 12 blocks on 4 stages
  const auto moved = memory_of(uneven("Et*3|t*4|t*4|tL"));
  CHECK(moved[0] == even[0]);
  CHECK(moved[1] == Approx(even[1] * 4 / 3));
  CHECK(moved[2] == moved[1]);
  CHECK(even[3] - moved[3] == Approx(even[1] * 2 / 3));
  const auto step = [](const char* layout) {
    return simulate(uneven(layout), "fluid").measured.metrics.step_time;
  };
  CHECK(step("Et*3|t*4|t*4|tL") < step("Et|t*2|t*2|t*7L"));
}
