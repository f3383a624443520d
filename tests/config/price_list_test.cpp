// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/config/price_list.hpp"
#include "tests/support/config_files.hpp"

using namespace gradway;
using namespace gradway::test;
using Catch::Matchers::Contains;

TEST_CASE("days between two dates count leap days, and are negative backwards") {
  CHECK(days_between("2026-11-26", "2026-11-26") == 0);
  CHECK(days_between("2026-07-20", "2026-11-26") == 129);
  CHECK(days_between("2024-02-28", "2024-03-01") == 2);
  CHECK(days_between("2025-02-28", "2025-03-01") == 1);
  CHECK(days_between("2026-01-01", "2025-01-01") == -365);
}

TEST_CASE("a file of prices is read by platform, each with its region, date and source") {
  const TemporaryFolder folder;
  folder.write("platforms/prices/mine.yaml",
               "schema: 1\nsource: my contract\nprices:\n"
               "  - { platform: aws-p5.48xlarge, per_node_hour: 30 USD/h, region: us, date: 2026-01-15 }\n"
               "  - { platform: aws-p5.48xlarge, per_node_hour: 28 USD/h, region: us, date: 2026-06-15 }\n");
  const DataPath data{{folder.path(), GRADWAY_SOURCE_DIR}};
  const auto list = load_price_list("mine", data);
  REQUIRE(list.size() == 1);
  const auto& prices = list.at("aws-p5.48xlarge");
  REQUIRE(prices.size() == 2);
  CHECK(prices[1].per_node.value() == 28);
  CHECK(prices[1].date == "2026-06-15");
  CHECK(prices[1].source == "my contract");
}

TEST_CASE("shipped spot prices are below those on demand of the same region") {
  const DataPath data{{GRADWAY_SOURCE_DIR}};
  int compared = 0;
  for (const auto& [name, prices] : load_price_list("gcp-spot-2026-08", data)) {
    const auto platform = load_platform(name, 1, data);
    for (const auto& spot : prices) {
      for (const auto& price : platform.prices) {
        if (price.region != spot.region) continue;
        CHECK(spot.per_node < price.per_node);
        ++compared;
      }
    }
  }
  CHECK(compared >= 3);
}
