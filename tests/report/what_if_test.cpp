// SPDX-License-Identifier: Apache-2.0
// What a page needs to simulate its scenario with other settings.
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sim/config/config.hpp"
#include "sim/config/scenario_yaml.hpp"
#include "sim/report/page/run_document.hpp"
#include "sim/report/run/json.hpp"
#include "sim/run/simulate.hpp"

using namespace gradway;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};

struct Changed {
  std::string scenario;
  std::vector<Override> set;
};

const std::vector<Changed> runs{
    {"article/g6e", {}},
    {"article/g6e", {{"job.gpus", "4"}, {"strategy.comm_hook", "bf16"}, {"nccl", "{NCCL_P2P_DISABLE: 1}"}}},
    {"article/p4d", {{"strategy", "{kind: fsdp}"}, {"optimizer", "adamw"}}},
    {"sharded/llama2_7b", {{"model.layers", "16"}, {"faster.network", "2"}}},
    {"loading/resnet50", {{"input.loader_workers", "4"}}},
};

std::string report_of(const Scenario& scenario) {
  std::ostringstream out;
  report::write_json(out, simulate(scenario), "1");
  return out.str();
}

}  // namespace

TEST_CASE("a scenario with changes, written as YAML, gives the same report", "[report][page]") {
  for (const auto& [scenario, set] : runs) {
    const auto yaml = scenario_yaml(scenario, set, data);
    INFO(yaml);
    CHECK(report_of(load_scenario_text(yaml, scenario, data)) ==
          report_of(load_scenario(scenario, set, data)));
  }
}

TEST_CASE("problems of changes are those of the scenario", "[report][page]") {
  CHECK_THROWS_AS(scenario_yaml("article/nowhere", {}, data), ConfigError);
  CHECK_THROWS_AS(scenario_yaml("article/g6e", {{"job.gpus", "[1"}}, data), ConfigError);
}

TEST_CASE("the answer to a page is the document of a run, with the scenario", "[report][page]") {
  const auto run = simulate(load_scenario("article/g6e", {}, data));
  std::ostringstream out;
  report::write_run_document(out, run, "auto", "1", {}, "schema: 1\n");
  auto answer = nlohmann::ordered_json::parse(out.str());
  CHECK(answer["yaml"] == "schema: 1\n");
  CHECK(answer["axes"] == nlohmann::ordered_json::array({"pipeline"}));
  answer.erase("yaml");
  answer.erase("axes");
  CHECK(answer == report::run_document(run, run, "1", {}));
}
