// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sim/report/format/errors_json.hpp"

using namespace gradway;

TEST_CASE("errors of every part of a step survive a round trip through JSON", "[report][json]") {
  std::vector<PossibleError> errors;
  for (std::size_t part = 0; part < part_words.size(); ++part)
    errors.push_back({.cause = {static_cast<PartOfStep>(part), "cause"}, .time = 3_ms, .uncertainty = 0.1});
  errors.back().spare = 0.7_ms;
  errors.back().saves = 1.1_ms;
  const auto text = report::errors_json(errors).dump();
  const auto again = report::errors_of(nlohmann::ordered_json::parse(text));
  REQUIRE(again.size() == errors.size());
  for (std::size_t i = 0; i < errors.size(); ++i) {
    CHECK(again[i].cause == errors[i].cause);
    CHECK(again[i].time == errors[i].time);
    CHECK(again[i].uncertainty == errors[i].uncertainty);
    CHECK(again[i].spare == errors[i].spare);
    CHECK(again[i].saves == errors[i].saves);
  }
}
