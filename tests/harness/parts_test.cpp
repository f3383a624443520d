// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <sstream>
#include <stdexcept>

#include <catch2/catch.hpp>

#include "calibration/harness/progress.hpp"
#include "calibration/harness/sizes.hpp"
#include "calibration/harness/throttling.hpp"
#include "calibration/harness/world.hpp"

namespace gradway::probe {
namespace {

using Variables = std::map<std::string, std::string>;

std::optional<World> world_of(const Variables& variables) {
  return read_world([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

const Variables second_of_two_nodes{{"RANK", "5"},
                                    {"WORLD_SIZE", "8"},
                                    {"LOCAL_RANK", "1"},
                                    {"LOCAL_WORLD_SIZE", "4"},
                                    {"MASTER_ADDR", "node-a"},
                                    {"MASTER_PORT", "29500"}};

TEST_CASE("sizes grow by their factor up to the largest") {
  CHECK(powers(1, 16, 4) == std::vector<std::size_t>{1, 4, 16});
  CHECK(powers(1, 20, 4) == std::vector<std::size_t>{1, 4, 16, 20});
  CHECK(powers(8, 8, 2) == std::vector<std::size_t>{8});
}

TEST_CASE("numbers of ranks are powers of two, numbers between them, and all") {
  CHECK(rank_counts(1).empty());
  CHECK(rank_counts(2) == std::vector<int>{2});
  CHECK(rank_counts(4) == std::vector<int>{2, 3, 4});
  CHECK(rank_counts(8) == std::vector<int>{2, 3, 4, 6, 8});
  CHECK(rank_counts(5) == std::vector<int>{2, 3, 4, 5});
}

TEST_CASE("without RANK a run has one node") {
  CHECK_FALSE(world_of({}));
  CHECK_FALSE(world_of({{"WORLD_SIZE", "8"}}));
}

TEST_CASE("the launcher's variables give the place of a rank") {
  const auto world = world_of(second_of_two_nodes);
  REQUIRE(world);
  CHECK(world->rank == 5);
  CHECK(world->ranks == 8);
  CHECK(world->local_rank == 1);
  CHECK(world->nodes() == 2);
  CHECK(world->host == "node-a");
  CHECK(world->port == 29500);
}

TEST_CASE("a launcher's variables that are missing or wrong are refused by name") {
  const auto [name, value, text] = GENERATE(table<const char*, const char*, const char*>({
      {"WORLD_SIZE", "", "WORLD_SIZE is '': expected a number from 1 to 1048576"},
      {"WORLD_SIZE", "5x", "WORLD_SIZE is '5x': expected a number from 1 to 1048576"},
      {"RANK", "8", "RANK is '8': expected a number from 0 to 7"},
      {"LOCAL_WORLD_SIZE", "3",
       "8 ranks are not divisible by 3 per node: start the same number on each node"},
      {"LOCAL_RANK", "4", "LOCAL_RANK is '4': expected a number from 0 to 3"},
      {"MASTER_ADDR", "", "RANK is set, but MASTER_ADDR is not: start all ranks with torchrun"},
  }));
  auto variables = second_of_two_nodes;
  variables[name] = value;
  CHECK_THROWS_WITH(world_of(variables), text);
  variables.erase("LOCAL_WORLD_SIZE");
  variables[name] = second_of_two_nodes.at(name);
  variables.erase("LOCAL_WORLD_SIZE");
  CHECK_THROWS_WITH(world_of(variables), Catch::StartsWith("RANK is set, but LOCAL_WORLD_SIZE is not"));
}

TEST_CASE("the remaining time is the jobs' estimate, corrected by the finished jobs") {
  const Forecast forecast{{Seconds{10}, Seconds{20}, Seconds{10}}};
  CHECK(forecast.left(0, 0, Seconds{0}) == Seconds{40});
  CHECK(forecast.left(1, 0, Seconds{10}) == Seconds{30});
  SECTION("a run at half the pace takes twice as long") {
    CHECK(forecast.left(1, 0.5, Seconds{40}) == Seconds{40});
  }
  SECTION("one that is done takes no more") {
    CHECK(forecast.left(2, 1, Seconds{77}) == Seconds{0});
  }
  SECTION("a slow start says little") {
    CHECK(forecast.left(0, 0.2, Seconds{30}) == Seconds{38});
  }
}

TEST_CASE("times are printed in minutes and seconds") {
  CHECK(minutes_text(Seconds{0.4}) == "0 s");
  CHECK(minutes_text(Seconds{59.4}) == "59 s");
  CHECK(minutes_text(Seconds{59.6}) == "1 min 0 s");
  CHECK(minutes_text(Seconds{200}) == "3 min 20 s");
}

TEST_CASE("progress is one line per job in logs, and one updated line on a terminal") {
  std::ostringstream plain;
  {
    Progress progress{plain, false, Forecast{{Seconds{10}, Seconds{10}}}, 2};
    progress.begin(0, "copies");
    progress.done(0.5);
    progress.say("copies: a remark");
  }
  CHECK(plain.str() == "[1 of 2] copies, about 20 s left\ncopies: a remark\n");
  std::ostringstream terminal;
  {
    Progress progress{terminal, true, Forecast{{Seconds{10}}}, 1};
    progress.begin(0, "copies");
  }
  CHECK(terminal.str() == "\r\033[K[1 of 1] copies: 0 %, about 10 s left\r\033[K");
}

TEST_CASE("reasons of throttling are printed in words, and idle clocks are not throttling") {
  CHECK(throttling_text(0, {}).empty());
  CHECK(throttling_text(0, {0x1, 0x2, 0x100}).empty());
  CHECK(throttling_text(2, {0x4, 0x4, 0, 0}) == "GPU 2 was slowed by its power limit in 50 % of the time");
  CHECK(throttling_text(0, {0x24, 0}) ==
        "GPU 0 was slowed by its power limit in 50 % of the time, its temperature (by the driver) in 50 % of "
        "the time");
}

}  // namespace
}  // namespace gradway::probe
