// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sim/config/config.hpp"
#include "sim/report/format/scenario_json.hpp"

using namespace gradway;

TEST_CASE("the echo of a changed model is read as the same model", "[report][models]") {
  const DataPath shipped{{GRADWAY_SOURCE_DIR}};
  const auto scenario =
      load_scenario("published/megatron", {{"model.layers", "12"}, {"model.dropout", "false"}}, shipped);
  const auto echo = report::scenario_json(scenario);
  CHECK(echo.at("model").dump() == R"({"based_on":"megatron_22b","layers":12,"dropout":false})");
  const auto again = load_scenario_text(
      fmt::format("schema: 1\nmodel: {}\nplatform: dgx-a100\njob: {{ gpus: 8, batch_per_gpu: 1 }}\n",
                  echo.at("model").dump()),
      "echo.yaml", shipped);
  CHECK(again.model.name == scenario.model.name);
  CHECK(again.model.parameter_count() == scenario.model.parameter_count());
}
