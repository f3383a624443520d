// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/base/contract.hpp"
#include "tests/support/small_graphs.hpp"

using namespace gradway;
using namespace gradway::testing;

TEST_CASE("every engine of the table can be chosen by its name", "[engine]") {
  REQUIRE(engines().size() == 2);
  for (const EngineEntry& entry : engines()) {
    CHECK(choose_engine(entry.name).name == entry.name);
    CHECK_FALSE(entry.help.empty());
  }
}

TEST_CASE("auto chooses the engine that loads no module", "[engine]") {
  CHECK(choose_engine("auto").name == "fluid");
}

TEST_CASE("a name that is not in the table is a bug of the caller", "[engine]") {
  CHECK_THROWS_AS(choose_engine("fast"), ContractViolation);
}

TEST_CASE("a platform that does not fit the graph is a bug of the caller, in a child process too",
          "[engine]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  OpGraph graph;
  graph.add(flow_op(1, path_over(graph, {7})));
  CHECK_THROWS_AS(run_with(engine, resources_of({1}), graph), ContractViolation);
}
