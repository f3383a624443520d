// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/config/scenario_keys.hpp"
#include "sim/report/json/scenario_json.hpp"

using namespace gradway;

TEST_CASE("a default that the table of keys tells is what counts without the key", "[report][keys]") {
  const DataPath data{{GRADWAY_SOURCE_DIR}};
  int defaults = 0;
  for (const auto& key : config::described_keys()) {
    if (key.otherwise.empty() || !key.is_set_alone) continue;
    ++defaults;
    CAPTURE(key.name);
    const bool is_of_a_call = key.meaning.starts_with("kind collective");
    const std::vector<Override> bare =
        is_of_a_call ? std::vector<Override>{{"strategy.kind", "collective"}, {"strategy.size", "1 GiB"}}
                     : std::vector<Override>{};
    auto with_default = bare;
    with_default.push_back({key.name, key.otherwise});
    const std::string file = GRADWAY_SOURCE_DIR "/tests/report/bare.yaml";
    CHECK(report::scenario_json(load_scenario(file, with_default, data)) ==
          report::scenario_json(load_scenario(file, bare, data)));
  }
  CHECK(defaults > 10);
}
