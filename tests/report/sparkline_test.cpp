// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/text.hpp"

#include <limits>

#include <catch2/catch.hpp>

using gradway::report::sparkline;

TEST_CASE("a sparkline spans the smallest to the largest value", "[report]") {
  CHECK(sparkline({1, 2, 3, 4, 5, 6, 7, 8}) == "▁▂▃▄▅▆▇█");
  CHECK(sparkline({-1e308, 1e308}) == "▁█");
  CHECK(sparkline({3, 1, 2}) == "█▁▅");
}

TEST_CASE("a sparkline does not depend on offset or unit", "[report]") {
  const std::vector<double> values{5, 3, 8, 8, 1, 4};
  auto others = values;
  for (auto& value : others) value = 1000 * value + 7;
  CHECK(sparkline(others) == sparkline(values));
  for (auto& value : others) value = -value;  // upside down
  CHECK(sparkline(others) == "▄▆▁▁█▅");
}

TEST_CASE("equal values are in the middle", "[report]") {
  CHECK(sparkline({2, 2, 2}) == "▄▄▄");
  CHECK(sparkline({0.3649, 0.36490001, 0.3649}) == "▄▄▄");  // all of them read 364.9 ms
  CHECK(sparkline({0.3649, 0.3655, 0.3649}) == "▁█▁");
  CHECK(sparkline({}).empty());
}

TEST_CASE("values that are not finite are blank, and keep their column", "[report]") {
  const auto infinity = std::numeric_limits<double>::infinity();
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(sparkline({1, infinity, nan, 2, -infinity}) == "▁  █ ");
  CHECK(sparkline({infinity}) == " ");
  CHECK(gradway::report::columns_of(sparkline({1, nan, 2})) == 3);
}
