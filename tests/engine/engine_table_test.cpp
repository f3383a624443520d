// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/base/contract.hpp"
#include "tests/support/small_graphs.hpp"

using namespace gradway;
using namespace gradway::testing;

TEST_CASE("every engine of the table can be chosen by its name", "[engine]") {
  const OpGraph graph;
  REQUIRE(engines().size() == 2);
  for (const EngineEntry& entry : engines()) {
    CHECK(choose_engine(entry.name, graph).name == entry.name);
    CHECK_FALSE(entry.help.empty());
  }
}

TEST_CASE("auto takes SimGrid for small graphs and the fluid engine for large ones", "[engine]") {
  OpGraph graph;
  CHECK(choose_engine("auto", graph).name == "simgrid");
  for (int i = 0; i < 100000; ++i) graph.add(Op{});
  CHECK(choose_engine("auto", graph).name == "fluid");
}

TEST_CASE("auto takes SimGrid as long as few flows can be under way at once", "[engine]") {
  OpGraph streams;  // ten streams of 100 kernels each
  OpGraph crowd;    // the same kernels, all at once
  const auto path = path_over(streams, {0});
  path_over(crowd, {0});
  for (std::uint32_t stream = 0; stream < 10; ++stream) {
    streams.add_queue("stream");
    for (int i = 0; i < 100; ++i) {
      streams.add(in_queue(flow_op(1, path), stream));
      crowd.add(flow_op(1, path));
    }
  }

  CHECK(choose_engine("auto", streams).name == "simgrid");
  CHECK(choose_engine("auto", crowd).name == "fluid");
}

TEST_CASE("auto changes at 50,000 ops times flows at once", "[engine]") {
  OpGraph graph;  // one stream: one flow at once
  const auto path = path_over(graph, {0});
  graph.add_queue("stream");
  for (int i = 0; i < 50000; ++i) graph.add(in_queue(flow_op(1, path), 0));
  CHECK(choose_engine("auto", graph).name == "simgrid");
  graph.add(in_queue(flow_op(1, path), 0));
  CHECK(choose_engine("auto", graph).name == "fluid");
}

TEST_CASE("a name that is not in the table is a bug of the caller", "[engine]") {
  CHECK_THROWS_AS(choose_engine("fast", OpGraph{}), ContractViolation);
}

TEST_CASE("a platform that does not fit the graph is a bug of the caller, in a child process too",
          "[engine]") {
  const std::string engine = GENERATE("simgrid", "fluid");
  OpGraph graph;
  graph.add(flow_op(1, path_over(graph, {7})));
  CHECK_THROWS_AS(run_with(engine, resources_of({1}), graph), ContractViolation);
}
