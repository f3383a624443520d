// SPDX-License-Identifier: Apache-2.0
// A scenario may change keys of the file of its model.
#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "sim/config/config.hpp"

using namespace gradway;
using Catch::Matchers::Contains;

namespace {

const DataPath shipped{{GRADWAY_SOURCE_DIR}};

Scenario with(const std::vector<Override>& set) {
  return load_scenario("published/megatron", set, shipped);
}

Scenario of_text(const std::string& model) {
  return load_scenario_text(
      fmt::format("schema: 1\nmodel: {}\nplatform: dgx-a100\njob: {{ gpus: 8, batch_per_gpu: 1 }}\n", model),
      "mine.yaml", shipped);
}

std::string message_of(const std::vector<Override>& set) {
  try {
    with(set);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("changed shapes have exactly the published number of parameters", "[config][models]") {
  struct Row {
    int layers, heads, hidden;
    std::int64_t parameters;
  };
  // Narayanan et al., arXiv 2104.04473, table 1
  const auto row = GENERATE(Row{30, 32, 3072, 3'562'168'320}, Row{36, 32, 4096, 7'467'786'240},
                            Row{40, 48, 6144, 18'449'756'160}, Row{48, 64, 8192, 39'096'041'472},
                            Row{60, 80, 10240, 76'050'739'200}, Row{80, 96, 12288, 145'622'261'760},
                            Row{96, 128, 16384, 310'130'540'544}, Row{105, 128, 20480, 529'600'819'200},
                            Row{128, 160, 25600, 1'008'038'758'400});
  const auto scenario = with({{"model.layers", std::to_string(row.layers)},
                              {"model.heads", std::to_string(row.heads)},
                              {"model.hidden", std::to_string(row.hidden)},
                              {"model.mlp", std::to_string(4 * row.hidden)}});
  CHECK(scenario.model.parameter_count() == row.parameters);
}

TEST_CASE("a map and --set change a model alike", "[config][models]") {
  const auto written = of_text("{ based_on: llama3_8b, layers: 4, sequence: 1024 }").model;
  const auto set = load_scenario_text(
                       "schema: 1\nmodel: llama3_8b\nplatform: dgx-a100\n"
                       "job: { gpus: 8, batch_per_gpu: 1 }\n",
                       "mine.yaml", shipped)
                       .model;
  CHECK(written.name == "llama3_8b {layers: 4, sequence: 1024}");
  CHECK(written.tokens_per_sample == 1024);
  CHECK(set.parameter_count() - written.parameter_count() == 28 * std::int64_t{218'112'000});
}

TEST_CASE("measured steps of a model say nothing about a changed one", "[config][models]") {
  const auto plain = of_text("vit_l_32").model;
  REQUIRE_FALSE(plain.anchors.empty());
  CHECK(of_text("{ based_on: vit_l_32, layers: 12 }").model.anchors.empty());
}

TEST_CASE("mistakes in changed keys of a model point to where they are written", "[config][models][errors]") {
  CHECK_THAT(message_of({{"model.layer", "12"}}),
             Contains("--set model.layer=12") && Contains("'layer'") && Contains("'layers'"));
  CHECK_THAT(message_of({{"model.layers", "many"}}), Contains("--set model.layers=many"));
  CHECK_THAT(message_of({{"model.heads", "7"}}), Contains("heads") && Contains("hidden"));
}
