// SPDX-License-Identifier: Apache-2.0
#include "sim/base/quantiles.hpp"

#include <catch2/catch.hpp>

#include "sim/base/normal.hpp"
#include "sim/base/units.hpp"

using namespace gradway;

namespace {

using Values = std::vector<double>;

}  // namespace

TEST_CASE("a lower quantile is the smallest value that a share of the values does not exceed", "[base]") {
  CHECK(lower_quantile(Values{4, 1, 3, 2}, 0.25) == 1);
  CHECK(lower_quantile(Values{5, 4, 1, 3, 2}, 0.25) == 2);
  CHECK(lower_quantile(Values{4, 1, 3, 2}, 0.5) == 2);
  CHECK(lower_quantile(Values{3, 1, 2}, 0.5) == 2);
  CHECK(lower_quantile(Values{3, 1, 2}, 1) == 3);
  CHECK(lower_quantile(Values{7}, 0.25) == 7);
}

TEST_CASE("the median of an even number of values is the lower, the upper, or their mean", "[base]") {
  const Values values{4, 1, 3, 2};
  CHECK(lower_median(values) == 2);
  CHECK(upper_median(values) == 3);
  CHECK(median(values) == 2.5);
}

TEST_CASE("all medians of an odd number of values are equal, those without values are zero", "[base]") {
  CHECK(lower_median(Values{3, 1, 2}) == 2);
  CHECK(upper_median(Values{3, 1, 2}) == 2);
  CHECK(median({3, 1, 2}) == 2);
  CHECK(lower_median(std::vector<Seconds>{}) == Seconds{});
  CHECK(median({}) == 0);
}

TEST_CASE("a quantile lies between the values around it", "[base]") {
  CHECK(quantile(Values{1, 2}, 0.5) == 1.5);
  CHECK(quantile(std::vector<Seconds>{Seconds{5}, Seconds{1}}, 0) == Seconds{1});
}

TEST_CASE("90 and 95 % of a normal distribution are within 1.645 and 1.96 standard deviations") {
  CHECK(normal_half_width(0.9) == Approx(1.6448536269514722));
  CHECK(normal_half_width(0.95) == Approx(1.959963984540054));
  CHECK_THROWS_AS(normal_half_width(1), ContractViolation);
}
