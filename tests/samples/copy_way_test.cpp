// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "readers/samples/copy_way.hpp"

using namespace gradway;

TEST_CASE("the names of older samples are read as their copies", "[samples]") {
  CHECK(copies_of_pattern("h2d_x4").size() == 4);
  CHECK(copies_of_pattern("h2d+d2h_x4").size() == 8);
  CHECK(copies_of_pattern("ring_x3")[2].to == 0);
  CHECK(copies_of_pattern("pairs_0>1_2>3")[1].from == 2);
  CHECK(copies_of_pattern("bidir_0<>1").size() == 2);
  CHECK(copies_of_pattern("bidir_0<>1")[1].from == 1);
  const auto both = copies_of_pattern("h2d_0+d2h_1");
  REQUIRE(both.size() == 2);
  CHECK(both[0].role() == LinkRole::to_gpu);
  CHECK(both[1].role() == LinkRole::from_gpu);
  CHECK(both[1].from == 1);
  for (const auto* name : {"", "h2d", "h2d_x", "h2d_x4y", "ring_x1", "pairs", "pairs_0>0", "bidir_0<1",
                           "d2d_x2", "h2d_x99999999999", "h2d_-1"}) {
    CAPTURE(name);
    CHECK(copies_of_pattern(name).empty());
  }
}
