// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <atomic>
#include <limits>
#include <set>

#include "sim/study/compare/sweep.hpp"
#include "sim/study/parallel.hpp"

using namespace gradway;

TEST_CASE("the points of a sweep are the cross product, with the first axis varying slowest") {
  const std::vector<Axis> axes{{"a", {"1", "2"}}, {"b", {"x", "y", "z"}}};
  REQUIRE(point_count(axes) == 6);
  CHECK(point_values(axes, 0) == std::vector<std::string>{"1", "x"});
  CHECK(point_values(axes, 2) == std::vector<std::string>{"1", "z"});
  CHECK(point_values(axes, 3) == std::vector<std::string>{"2", "x"});
  std::set<std::vector<std::string>> all;
  for (std::size_t i = 0; i < 6; ++i) all.insert(point_values(axes, i));
  CHECK(all.size() == 6);
  CHECK(point_count({}) == 1);
}

TEST_CASE("the number of points does not overflow", "[sweep]") {
  const Axis axis{"a", std::vector<std::string>(256, "1")};
  CHECK(point_count(std::vector<Axis>(7, axis)) == std::size_t{1} << 56U);
  CHECK(point_count(std::vector<Axis>(8, axis)) == std::numeric_limits<std::size_t>::max());
  CHECK(point_count(std::vector<Axis>(9, axis)) == std::numeric_limits<std::size_t>::max());
}

TEST_CASE("a range has the values of its whole numbers", "[sweep]") {
  using Values = std::vector<std::string>;
  CHECK(values_of_list("--vary a", "1..4") == Values{"1", "2", "3", "4"});
  CHECK(values_of_list("--vary a", "1,4..5,9") == Values{"1", "4", "5", "9"});
  CHECK(values_of_list("--vary a", "7..7") == Values{"7"});
  CHECK(values_of_list("--vary a", "'a..b',../x,1...3,1..2 MiB") ==
        Values{"'a..b'", "../x", "1...3", "1..2 MiB"});
  CHECK(parse_axes({"a=1..3"}).front().values == Values{"1", "2", "3"});
}

TEST_CASE("parallel work is done once per index for any number of threads") {
  const int threads = GENERATE(1, 2, 7, 100);
  std::vector<std::atomic<int>> done(50);
  for_each_in_parallel(done.size(), threads, [&](std::size_t i) { ++done[i]; });
  for (const auto& count : done) CHECK(count == 1);
  for_each_in_parallel(0, threads, [](std::size_t) { throw std::logic_error{"nothing to do"}; });
}

TEST_CASE("parallel work that fails throws what its first part threw, for any number of threads") {
  const int threads = GENERATE(1, 2, 7, 100);
  std::vector<std::atomic<int>> done(50);
  const auto work = [&](std::size_t i) {
    ++done[i];
    if (i % 7 == 3) throw std::runtime_error{std::to_string(i)};
  };
  CHECK_THROWS_WITH(for_each_in_parallel(done.size(), threads, work), "3");
  for (const auto& count : done) CHECK(count <= 1);
  CHECK(done[3] == 1);
}
