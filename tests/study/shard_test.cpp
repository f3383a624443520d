// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "sim/base/problem.hpp"
#include "sim/study/compare/sweep.hpp"

using namespace gradway;

TEST_CASE("each point of a sweep is in exactly one shard, and shards have equal sizes", "[study][shard]") {
  const auto count = GENERATE(std::size_t{0}, 1, 7, 64, 1001);
  const auto shards = GENERATE(std::size_t{1}, 2, 8, 100);
  CAPTURE(count, shards);
  std::multiset<std::size_t> all;
  for (std::size_t number = 1; number <= shards; ++number) {
    const auto points = points_of({number, shards}, count);
    CHECK(std::ranges::is_sorted(points));
    CHECK(points.size() >= count / shards);
    CHECK(points.size() <= (count + shards - 1) / shards);
    all.insert(points.begin(), points.end());
  }
  std::multiset<std::size_t> expected;
  for (std::size_t i = 0; i < count; ++i) expected.insert(i);
  CHECK(all == expected);
}

// Of 800 points in 8 shards each has 100, of which 12.5 have a given one of 8 values. A binomial of 100 draws
// has a standard deviation of 3.3; twice the mean lies 3.8 of these above it.
TEST_CASE("no shard gets most points of a value on any axis", "[study][shard]") {
  const std::size_t stride = GENERATE(1, 8, 100);
  for (std::size_t number = 1; number <= 8; ++number) {
    const auto points = points_of({number, 8}, 800);
    for (std::size_t value = 0; value < 8; ++value) {
      CHECK(std::ranges::count_if(points, [&](std::size_t i) { return i / stride % 8 == value; }) <= 25);
    }
  }
}

TEST_CASE("a shard is written as its number and the number of shards", "[study][shard]") {
  CHECK(parse_shard("3/8") == Shard{3, 8});
  const auto message = [](const std::string& text) -> std::string {
    try {
      parse_shard(text);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  for (const auto* text : {"", "3", "3/", "/8", "3/8/1", "a/b", "-1/8", "3/8 ", "3 of 8"}) {
    CHECK(message(text) ==
          "error: '--shard " + std::string{text} +
              "' is not a shard\n  hint: write '--shard I/N', such as '--shard 3/8' for the third "
              "of eight shards\n");
  }
  for (const auto* text : {"0/8", "9/8"}) {
    CHECK(message(text) == "error: '--shard " + std::string{text} +
                               "' does not exist\n  hint: shards count from 1: '--shard 1/8' is the first, "
                               "'--shard 8/8' the last\n");
  }
  CHECK(message("1/0") ==
        "error: '--shard 1/0' does not exist\n  hint: shards count from 1: '--shard 1/1' is the first, "
        "'--shard "
        "1/1' the last\n");
  CHECK(message("1/100001") ==
        "error: '--shard 1/100001' has too many shards\n  hint: the largest number of shards is 100000\n");
}
