// SPDX-License-Identifier: Apache-2.0
// Tables of prices: SkyPilot's catalogue and plain ones.
#include <catch2/catch.hpp>

#include "readers/prices/price_table.hpp"
#include "sim/base/problem.hpp"

using namespace gradway;

namespace {

const std::vector<PricedNode> nodes{{"aws-p5.48xlarge", "h100-sxm", 8},
                                    {"azure-nd96isr-h100-v5", "h100-sxm", 8},
                                    {"dgx-a100", "a100-sxm-80gb", 8},
                                    {"dgx-h100", "h100-sxm", 8},
                                    {"hgx-8x-h100", "h100-sxm", 8}};

PriceTable read(const std::string& text, const PriceTableOptions& options = {}) {
  return read_price_table({"prices.csv", text}, nodes, options);
}

std::string problems_of(const std::string& text, const PriceTableOptions& options = {}) {
  try {
    read(text, options);
  } catch (const ConfigError& error) {
    std::string all;
    for (const auto& problem : error.problems()) all += to_text(problem);
    return all;
  }
  return "";
}

const std::string skypilot =
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice\n";
const PriceTableOptions october{.date = "2026-10-07", .platform = {}};

}  // namespace

TEST_CASE("SkyPilot's catalogue: whole nodes are preferred to parts, spot prices are their own", "[import]") {
  const auto table =
      read(skypilot +
               "cpu-4,,0,4,16,0.0992,eu-north1,,\n"
               "gpu_1,H100,1,16,200,2.95,eu-north1,\"{'Gpus': [{'Name': 'H100', 'Count': 1}]}\",1.25\n"
               "gpu_8,H100,8.0,128,1600,23.60,eu-north1,\"{'Gpus': [{'Name': 'H100'}]}\",10.00\n"
               "gpu_2,A100-80GB-SXM,2.0,16,234,3.18,US,,3.18\n"
               "gpu_1_pcie,H100,1,26,225,3.29,us-west-1,,\n"
               "gpu_1_t,L40S,1,8,32,1.55,eu-north1,,\n"
               "p5.48xlarge,H100,8,192,2048,55.04,us-east-1,,\n"
               "Standard_ND96isr_H100_v5,H100,8,96,1900,98.32,eastus,,\n",
           october);
  CHECK(table.left_out ==
        std::vector<std::string>{
            "2 prices are left out: no platform stands for nodes with these GPUs: L40S (1), h100-pcie (1)",
            "1 price is left out: spot capacity costs as much as on demand",
            "1 price is left out: without an accelerator"});
  CHECK(prices_yaml(table, "some/folder/vms.csv") ==
        "schema: 1\nsource: \"SkyPilot's catalogue, vms.csv\"\nprices:\n"
        "  - { platform: dgx-h100, per_node_hour: 23.6 USD/h, region: \"eu-north1\", date: 2026-10-07 }\n"
        "  - { platform: dgx-h100, per_node_hour: 10 USD/h, region: \"eu-north1\", date: 2026-10-07, terms: "
        "spot }\n"
        "  - { platform: dgx-a100, per_gpu_hour: 1.59 USD/h, region: \"US\", date: 2026-10-07 }\n"
        "  - { platform: aws-p5.48xlarge, per_node_hour: 55.04 USD/h, region: \"us-east-1\", date: "
        "2026-10-07 }\n"
        "  - { platform: azure-nd96isr-h100-v5, per_node_hour: 98.32 USD/h, region: \"eastus\", date: "
        "2026-10-07 }\n");
}

TEST_CASE(
    "a chosen platform stands for the nodes with its GPU, and zones of a region count once, the cheapest",
    "[import]") {
  const std::string rows =
      skypilot + "a,H100-SXM,1,1,1,3.5,US,,\na,H100-SXM,1,1,1,3.4,US,,\na,A100-80GB-SXM,16,1,1,9,US,,\n";
  const auto table = read(rows, {.date = "2026-10-07", .platform = "hgx-8x-h100"});
  REQUIRE(table.prices.size() == 1);
  CHECK(table.prices.front().platform == "hgx-8x-h100");
  CHECK(table.prices.front().by_gpu);
  CHECK(table.prices.front().usd == 3.4);
  CHECK(table.left_out ==
        std::vector<std::string>{
            "1 price is left out: of more GPUs than a node of the platform has: dgx-a100 (1)"});
  CHECK(problems_of(rows) ==
        "prices.csv: error: SkyPilot's catalogue has no dates\n  hint: give that of its commit: --date "
        "2026-10-07\n");
}

TEST_CASE("a plain table has a platform or a GPU, and a price of a node or a GPU", "[import]") {
  const auto table = read(
      "platform,gpu,count,per_node_hour,per_gpu_hour,region,date,terms\r\n"
      "aws-p5.48xlarge,,,40,,\"us, east\",2026-01-15,reserved_1y\r\n"
      ",h100-sxm,8,20,,lab,2026-01-15,\n"
      ",A100 80GB SXM,,,1.5,lab,,spot\n",
      {.date = "2026-03-01", .platform = {}});
  CHECK(table.left_out.empty());
  CHECK(prices_yaml(table, "mine.csv") ==
        "schema: 1\nsource: \"mine.csv\"\nprices:\n"
        "  - { platform: aws-p5.48xlarge, per_node_hour: 40 USD/h, region: \"us, east\", date: 2026-01-15, "
        "terms: "
        "reserved_1y }\n"
        "  - { platform: dgx-h100, per_node_hour: 20 USD/h, region: \"lab\", date: 2026-01-15 }\n"
        "  - { platform: dgx-a100, per_gpu_hour: 1.5 USD/h, region: \"lab\", date: 2026-03-01, terms: spot "
        "}\n");
}

TEST_CASE("each wrong cell of a table of prices is named at its line and column", "[import]") {
  CHECK(problems_of("platform,per_node_hour,region,date,terms\n"
                    "dgx-h1000,20,lab,2026-01-15,\n"
                    "dgx-h100,much,lab,2026-01-15,\n"
                    "dgx-h100,20,lab,2026-02-30,\n"
                    "dgx-h100,20,lab,2026-01-15,sport\n"
                    "dgx-h100,20,,2026-01-15,\n"
                    "dgx-h100,20,lab\n"
                    "dgx-h100,20,lab,2026-01-15,\n"
                    "dgx-h100,21,lab,2026-01-15,\n") ==
        R"(prices.csv:2:1: error: unknown platform 'dgx-h1000'
    2 | dgx-h1000,20,lab,2026-01-15,
      | ^~~~~~~~~
  hint: did you mean 'dgx-h100'?
prices.csv:3:10: error: 'much' is not a price in US dollars per hour
    3 | dgx-h100,much,lab,2026-01-15,
      |          ^~~~
  hint: expected a number from 0.0001 to 1000000
prices.csv:4:17: error: '2026-02-30' is not a date
    4 | dgx-h100,20,lab,2026-02-30,
      |                 ^~~~~~~~~~
  hint: write it as 2026-10-07
prices.csv:5:28: error: 'sport' is not known as terms
    5 | dgx-h100,20,lab,2026-01-15,sport
      |                            ^~~~~
  hint: did you mean 'spot'?
prices.csv:6:13: error: the region is empty
    6 | dgx-h100,20,,2026-01-15,
      |             ^
  hint: any name, such as us-east-1
prices.csv:7:1: error: this row has 3 cells, but the first one 5
    7 | dgx-h100,20,lab
      | ^~~~~~~~
  hint: a cell with commas needs double quotes
prices.csv:9:10: error: another price of 'dgx-h100' in lab has the same date and terms
    9 | dgx-h100,21,lab,2026-01-15,
      |          ^~
  note: prices.csv:8:10: the other price
  hint: keep one of them
)");
  CHECK(problems_of("platform,per_node_hour,regoin\ndgx-h100,1,here\n", october) ==
        R"(prices.csv:1:24: error: unknown column 'regoin'
    1 | platform,per_node_hour,regoin
      |                        ^~~~~~
  hint: did you mean 'region'?
prices.csv:1:1: error: the column 'region' is missing
    1 | platform,per_node_hour,regoin
      | ^~~~~~~~
  hint: a table needs the columns platform or gpu, per_node_hour or per_gpu_hour, and region; SkyPilot's catalogue has AcceleratorName and Price
)");
  CHECK(problems_of("platform,per_node_hour,region\n\"dgx-h100,1,here\n", october) ==
        R"(prices.csv:2:1: error: this quote is not closed
    2 | "dgx-h100,1,here
      | ^
  hint: check whether the file is truncated
)");
}
