// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>

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

TEST_CASE("shipped prices fall from on demand over one year to three, and spot is below on demand") {
  const DataPath data{{GRADWAY_SOURCE_DIR}};
  int compared = 0;
  for (const auto& name : list_names(DataKind::platform, data)) {
    const auto prices = load_platform(name, 1, data).prices;
    const auto of = [&](Terms terms, const std::string& region) {
      const auto found = std::ranges::find_if(
          prices, [&](const Price& price) { return price.terms == terms && price.region == region; });
      return found == prices.end() ? std::nullopt : std::optional{found->per_node};
    };
    for (const auto& price : prices) {
      const auto on_demand = of(Terms::on_demand, price.region);
      if (!on_demand || price.terms == Terms::on_demand) continue;
      CAPTURE(name, name_of(price.terms), price.region);
      CHECK(price.per_node < *on_demand);
      if (price.terms == Terms::reserved_3y) CHECK(price.per_node < of(Terms::reserved_1y, price.region));
      ++compared;
    }
  }
  CHECK(compared >= 14);
}

TEST_CASE("fifteen clouds that rent GPUs have prices with a source, below on demand for other terms") {
  const DataPath data{{GRADWAY_SOURCE_DIR}};
  auto lists = load_price_list("neoclouds-2026-10", data);
  for (const auto* name : {"coreweave-8x-h100", "lambda-8x-h100", "nebius-8x-h100", "voltage-park-8x-h100"})
    lists[name] = load_platform(name, 1, data).prices;
  std::set<std::string> clouds;
  for (const auto& [platform, prices] : lists) {
    for (const auto& price : prices) {
      CAPTURE(platform, price.region, name_of(price.terms));
      clouds.insert(price.region);
      CHECK_THAT(price.source, Contains("github.com/"));
      CHECK(price.date >= "2025-04-29");
      const auto on_demand = std::ranges::find_if(prices, [&](const Price& other) {
        return other.region == price.region && other.terms == Terms::on_demand;
      });
      if (price.terms != Terms::on_demand && on_demand != prices.end())
        CHECK(price.per_node < on_demand->per_node);
    }
  }
  CHECK(clouds.size() == 20);
}

TEST_CASE("a price in another currency is converted by the rate of the nearest day") {
  const TemporaryFolder folder;
  folder.write(
      "platforms/prices/euro.yaml",
      "schema: 1\nsource: an offer\nrates:\n"
      "  - { rate: 1.25 USD/EUR, date: 2026-01-10, source: a bank }\n"
      "  - { rate: 1.5 USD/EUR, date: 2026-01-20 }\n"
      "  - { rate: 0.5 USD/CHF, date: 2026-01-15 }\n"
      "prices:\n"
      "  - { platform: dgx-h100, per_node_hour: 20 EUR/h, region: eu, date: 2026-01-14 }\n"
      "  - { platform: dgx-h100, per_node_hour: 20 EUR/h, region: eu, date: 2026-01-15 }\n"
      "  - { platform: dgx-h100, per_node_hour: 20 EUR/h, region: eu, date: 2026-01-16 }\n"
      "  - { platform: dgx-h100, per_node_hour: 20 CHF/h, region: ch, date: 2026-01-16, terms: spot }\n"
      "  - { platform: dgx-h100, per_node_hour: 20 USD/h, region: us, date: 2026-01-16 }\n");
  const auto prices = load_price_list("euro", {{folder.path(), GRADWAY_SOURCE_DIR}}).at("dgx-h100");
  REQUIRE(prices.size() == 5);
  CHECK(prices[0].per_node.value() == 20 * 1.25);
  CHECK(prices[1].per_node.value() == 20 * 1.25);  // of two equally near ones the earlier
  CHECK(prices[2].per_node.value() == 20 * 1.5);
  CHECK(prices[3].per_node.value() == 20 * 0.5);
  CHECK(prices[3].terms == Terms::spot);
  REQUIRE(prices[0].foreign);
  CHECK(prices[0].foreign->per_node == 20);
  CHECK(prices[0].foreign->rate.currency == "EUR");
  CHECK(prices[0].foreign->rate.date == "2026-01-10");
  CHECK(prices[0].foreign->rate.source == "a bank");
  CHECK(prices[2].foreign->rate.source == "an offer");
  CHECK_FALSE(prices[4].foreign);
}
