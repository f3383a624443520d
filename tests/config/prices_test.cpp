// SPDX-License-Identifier: Apache-2.0
// Which of a platform's prices counts.
#include <tuple>

#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "tests/support/config_files.hpp"

using namespace gradway;
using test::TemporaryFolder;

namespace {

const std::string good = GRADWAY_SOURCE_DIR "/tests/config/good";

const std::string platform =
    "schema: 1\nsource: made up\nbased_on: lab\nprice:\n"
    "  - { per_node_hour: 20 USD/h, region: here, date: 2025-06-23, source: a list }\n"
    "  - { per_node_hour: 22 USD/h, region: here, date: 2026-07-20, source: a list }\n"
    "  - { per_node_hour: 30 USD/h, region: here, date: 2024-08-18, source: a list }\n"
    "  - { per_node_hour: 40 USD/h, region: there, date: 2026-08-01, source: a list }\n";

const std::string own_prices =
    "schema: 1\nsource: our bills\nprices:\n"
    "  - { platform: rented, per_node_hour: 15 USD/h, region: here, date: 2026-01-01 }\n"
    "  - { platform: rented, per_node_hour: 14 USD/h, region: here, date: 2025-01-01, source: a talk }\n"
    "  - { platform: lab, per_node_hour: 1 USD/h, region: cellar, date: 2026-01-01 }\n";

/// A folder with the platform `rented` and prices of our own.
struct Data {
  Data() {
    folder.write("platforms/rented.yaml", platform);
    folder.write("platforms/prices/ours.yaml", own_prices);
  }

  Price price(const PriceChoice& choice, const std::string& of = "rented") const {
    const auto scenario = load_scenario(good + "/small.yaml", {{"platform", of}}, path(), choice);
    REQUIRE(scenario.platform.price.has_value());
    return *scenario.platform.price;
  }

  std::string message(const PriceChoice& choice) const {
    return test::message_of([&] {
      return load_scenario(good + "/small.yaml", {{"platform", "rented"}}, path(), choice);
    });
  }

  DataPath path() const { return {{folder.path(), good}}; }

  TemporaryFolder folder;
};

}  // namespace

TEST_CASE("the newest price counts, or that of a day, in the first price's region or in another",
          "[config][prices]") {
  const Data data;
  using Row = std::tuple<PriceChoice, double, std::string>;
  const auto [choice, usd, date] = GENERATE(values<Row>({
      {{}, 22, "2026-07-20"},
      {{.date = "2026-07-20"}, 22, "2026-07-20"},
      {{.date = "2026-07-19"}, 20, "2025-06-23"},
      {{.date = "2025-03-01"}, 30, "2024-08-18"},
      {{.region = "there"}, 40, "2026-08-01"},
      {{.file = "ours"}, 15, "2026-01-01"},
      {{.file = "ours", .date = "2025-12-31"}, 14, "2025-01-01"},
  }));
  CAPTURE(choice.file, choice.date, choice.region);

  const auto price = data.price(choice);

  CHECK(price.per_node.value() == usd);
  CHECK(price.date == date);
}

TEST_CASE("a file of prices serves the platforms that it names", "[config][prices]") {
  const Data data;
  CHECK(data.price({.file = "ours"}, "lab").per_node.value() == 1);
  CHECK(data.price({.file = "ours"}, "cheap-lab").per_node.value() == 3);
  CHECK(data.price({.file = "ours"}).source == "our bills");
  CHECK(data.price({.file = "ours", .date = "2025-01-01"}).source == "a talk");
}

TEST_CASE("a price of a GPU is paid for the GPUs of the job, that of a node for whole nodes",
          "[config][prices]") {
  const Data data;
  const auto by_node = data.price({});
  CHECK(by_node.of(1, 1, 2).value() == 22);
  data.folder.write("platforms/prices/by-gpu.yaml",
                    "schema: 1\nsource: our bills\nprices:\n"
                    "  - { platform: rented, per_gpu_hour: 3 EUR/h, region: here, date: 2026-01-01 }\n"
                    "rates: [{ rate: 1.5 USD/EUR, date: 2026-01-01 }]\n");
  const auto by_gpu = data.price({.file = "by-gpu"});  // a node of 'lab' has two GPUs
  CHECK(by_gpu.per_node.value() == 9);
  CHECK(by_gpu.foreign->per_node == 6);
  CHECK(by_gpu.of(1, 1, 2).value() == 4.5);
  CHECK(by_gpu.of(3, 2, 2).value() == 13.5);
}

TEST_CASE("an unknown price is refused with the known ones", "[config][prices]") {
  const Data data;
  CHECK(data.message({.date = "2024-08-17"}) ==
        "--price-date 2024-08-17: error: no price of 'rented' is known for this date\n"
        "  hint: prices in here are known from 2024-08-18 to 2026-07-20\n");
  CHECK(data.message({.date = "2025-02-29"}) ==
        "--price-date 2025-02-29: error: '2025-02-29' is not a date\n"
        "  hint: write year-month-day, for example 2026-01-24\n");
  CHECK(data.message({.region = "theer"}) ==
        "--region theer: error: no price of 'rented' is known in the region 'theer'\n"
        "  hint: did you mean 'there'?\n");
  CHECK(data.message({.file = "our"}) == "our: error: there is no such file\n  hint: did you mean 'ours'?\n");
}

TEST_CASE("the terms choose the price, in the first price's region if it has them", "[config][prices]") {
  const Data data;
  data.folder.write(
      "platforms/terms.yaml",
      "schema: 1\nsource: made up\nbased_on: lab\nprice:\n"
      "  - { per_node_hour: 20 USD/h, region: here, date: 2026-01-01, source: a list }\n"
      "  - { per_node_hour: 5 USD/h, region: there, date: 2026-02-01, source: a list, terms: spot }\n"
      "  - { per_node_hour: 6 USD/h, region: here, date: 2026-02-01, source: a list, terms: spot }\n"
      "  - { per_node_hour: 9 USD/h, region: there, date: 2026-02-01, source: a list, terms: "
      "reserved_1y }\n");
  CHECK(data.price({}, "terms").per_node.value() == 20);
  CHECK(data.price({.terms = "on_demand"}, "terms").per_node.value() == 20);
  CHECK(data.price({.terms = "spot"}, "terms").per_node.value() == 6);
  CHECK(data.price({.region = "there", .terms = "spot"}, "terms").per_node.value() == 5);
  CHECK(data.price({.terms = "reserved_1y"}, "terms").region == "there");
  const auto message = [&](const PriceChoice& choice) {
    return test::message_of([&] {
      return load_scenario(good + "/small.yaml", {{"platform", "terms"}}, data.path(), choice);
    });
  };
  CHECK(message({.terms = "reserved_3y"}) ==
        "--terms reserved_3y: error: no price of 'terms' is known on these terms\n"
        "  hint: known: on_demand, spot, reserved_1y\n");
  CHECK(message({.region = "here", .terms = "reserved_1y"}) ==
        "--region here: error: no reserved_1y price of 'terms' is known in the region 'here'\n"
        "  hint: did you mean 'there'?\n");
  const auto platform = load_platform("terms", 1, data.path());
  CHECK(platform.price_by_terms[static_cast<std::size_t>(Terms::spot)]->per_node.value() == 6);
  CHECK_FALSE(platform.price_by_terms[static_cast<std::size_t>(Terms::reserved_3y)]);
}

TEST_CASE("without a price on demand the price is unknown unless terms are given", "[config][prices]") {
  const Data data;
  data.folder.write(
      "platforms/block.yaml",
      "schema: 1\nsource: made up\nbased_on: lab\nprice: { per_node_hour: 5 USD/h, region: here, "
      "date: 2026-02-01, source: a list, terms: reserved }\n");
  CHECK_FALSE(load_platform("block", 1, data.path()).price);
  CHECK(data.price({.terms = "reserved"}, "block").per_node.value() == 5);
}

TEST_CASE("prices are part of what a scenario was read from", "[config][prices]") {
  const Data data;
  const auto digest = [&](const PriceChoice& choice) {
    return load_scenario(good + "/small.yaml", {{"platform", "rented"}}, data.path(), choice).digest;
  };
  const auto without = digest({});
  CHECK(without != digest({.file = "ours"}));
  CHECK(without != digest({.date = "2026-07-20"}));
  CHECK(without != digest({.region = "here"}));
  CHECK(without != digest({.terms = "on_demand"}));
  CHECK(without == digest({}));
}
