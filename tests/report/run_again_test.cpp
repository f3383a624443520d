// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sim/config/config.hpp"
#include "sim/report/json/json.hpp"
#include "sim/run/simulate.hpp"

using namespace gradway;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};

}  // namespace

TEST_CASE("a report holds traffic, what-if and anchor as a scenario gives them, so that it can be run again",
          "[report][json]") {
  const std::vector<Override> set{
      {"traffic", "[{ from: cpu0, to: gpu1, rate: 1 GB/s, weight: 2 }]"},
      {"faster", "{ host_memory: 1.7, gpu: 0.3 }"},
      {"anchor",
       "{ gpu: l40s, precision: fp32, batch: 32, optimizer: sgd, step_time: 111.5 ms, source: us }"}};
  const auto first = simulate(load_scenario("article/g6e", set, data));
  std::ostringstream text;
  report::write_json(text, first, "");
  const auto scenario = nlohmann::json::parse(text.str())["scenario"];
  std::vector<Override> again;
  for (const auto* key : {"traffic", "faster", "anchor"}) again.push_back({key, scenario[key].dump()});
  const auto second = simulate(load_scenario("article/g6e", again, data));
  CHECK(second.measured.metrics.step_time == first.measured.metrics.step_time);
  CHECK(first.measured.metrics.step_time !=
        simulate(load_scenario("article/g6e", {}, data)).measured.metrics.step_time);
}
