// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/cost/cache.hpp"

using namespace gradway;

// Simulation of shuffled epochs in which 0.10, 0.25, 0.50, 0.75 and 0.90 of the samples fit.
TEST_CASE("the hit ratio of a shuffled cache is below its share of the data if it evicts samples", "[cost]") {
  struct Row {
    double cached, lru, random;
  };
  for (const auto& [cached, lru, random] :
       {Row{0.10, 0.005, 0.010}, Row{0.25, 0.034, 0.069}, Row{0.50, 0.153, 0.281}, Row{0.75, 0.403, 0.603},
        Row{0.90, 0.670, 0.833}}) {
    CAPTURE(cached);
    CHECK(hit_ratio(CachePolicy::keeps, cached) == cached);
    CHECK(hit_ratio(CachePolicy::lru, cached) == Approx(lru).margin(6e-4));
    CHECK(hit_ratio(CachePolicy::random, cached) == Approx(random).margin(6e-4));
  }
  for (const auto policy : {CachePolicy::keeps, CachePolicy::lru, CachePolicy::random}) {
    CHECK(hit_ratio(policy, 0) == 0);
    CHECK(hit_ratio(policy, 1) == 1);
  }
}
