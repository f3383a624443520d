// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cmath>

#include "readers/fit/collective_tables.hpp"
#include "readers/nccl_tests/nccl_tests.hpp"
#include "readers/samples/read_samples.hpp"
#include "sim/cost/collective_table.hpp"

using namespace gradway;

namespace {

const std::string data = std::string{GRADWAY_SOURCE_DIR} + "/tests/readers/data/";

}  // namespace

TEST_CASE("a calibration of a log of nccl-tests predicts the times of the log", "[fit][import]") {
  const std::string name = GENERATE("all_gather-16x-2nodes", "all_reduce-8x-nvswitch", "sendrecv-8x");
  const auto imported = import_nccl_test_log(read_text_file(data + "nccl-tests-" + name + ".txt"), {});
  REQUIRE(imported.runs.size() == 1);
  const auto samples = read_samples({{"s.json", samples_json(imported.runs)}});
  CHECK(samples.collectives.size() == imported.runs[0].rows.size());
  const auto tables = fit_collectives(samples.collectives);
  REQUIRE(tables.size() == 1);
  REQUIRE(tables[0].residual);
  CHECK(tables[0].residual->worst < 0.01);
  for (const auto& row : imported.runs[0].rows) {
    CAPTURE(row.size.value());
    CHECK(std::abs(time_at(tables[0], row.size) / row.time - 1) <= tables[0].residual->worst + 1e-12);
  }
}

TEST_CASE("rows of operations without use in steps are kept and counted", "[fit][import]") {
  const auto samples = read_samples({{"s.json", samples_json({{.operation = "gather",
                                                               .tag = "p2p",
                                                               .ranks = 8,
                                                               .nodes = 1,
                                                               .gpu = "",
                                                               .iterations = {},
                                                               .rows = {{1024_B, 1.0_us}}}})}});
  CHECK(samples.collectives.empty());
  CHECK(samples.unused.at("gather") == 1);
}
