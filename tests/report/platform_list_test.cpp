// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include <catch2/catch.hpp>

#include "sim/report/show/lists.hpp"
#include "tests/support/builders.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

report::ListedPlatform listed(std::string name, Platform platform) {
  return {std::move(name), std::move(platform)};
}

Platform with_price(Platform platform) {
  platform.price = Price{UsdPerHour{12.5}, "here", "2026-07-20", "a list"};
  return platform;
}

}  // namespace

TEST_CASE("platforms are sorted by name with numbers by value, synthetic ones last", "[report]") {
  std::ostringstream out;
  auto fabric = star_fabric();
  fabric.efficiency = 0.8;
  std::vector<report::ListedPlatform> platforms;
  platforms.push_back(listed("a-ring", ring_platform(1, 50_GBps, 1_us)));
  platforms.push_back(listed("x10.large", built_platform(nvswitch_node(4), 1, fabric)));
  platforms.push_back(listed("x9.large", with_price(built_platform(tree_node()))));
  platforms.push_back({"broken", std::nullopt});
  report::write_platforms(out, platforms, {});
  CHECK(out.str() ==
        "platform   GPUs per node        between GPUs     between nodes  USD/node-hour  "
        "price of    region\n"
        "broken     the file is invalid\n"
        "x9.large   6 x round            pcie 25 GB/s     -                      12.50  "
        "2026-07-20  here\n"
        "x10.large  4 x round            nvlink 300 GB/s  wire 40 GB/s               -\n"
        "a-ring     any x ideal          -                -                          -\n");
}

TEST_CASE("a direct NVLink to each of several GPUs counts once for each", "[report]") {
  NodeDescription node;
  node.gpus = 3;
  node.links = {link("gpu0", "gpu[1-2]", LinkKind::nvlink, 20_GBps),
                link("gpu1", "gpu2", LinkKind::nvlink, 40_GBps, 2)};
  std::ostringstream out;
  report::write_platforms(out, {listed("mesh", built_platform(node))}, {});
  CHECK_THAT(out.str(), Catch::Matchers::Contains("nvlink 40 GB/s"));
}
