// SPDX-License-Identifier: Apache-2.0
#include "sim/base/rows.hpp"

#include <catch2/catch.hpp>

#include "sim/base/contract.hpp"

using namespace gradway;

TEST_CASE("a row of a table has words and values, with blanks in quotes", "[base]") {
  const auto rows =
      rows_in("# comment\n\n  setting a.b ours=job.x hint=\"did you mean 'x'?\" c\nline # \" Rank \"\r\n");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].kind == "setting");
  CHECK(rows[0].words == std::vector<std::string_view>{"a.b", "c"});
  CHECK(rows[0].value("ours") == "job.x");
  CHECK(rows[0].value("hint") == "did you mean 'x'?");
  CHECK(rows[0].value("before").empty());
  CHECK(rows[1].words == std::vector<std::string_view>{"#", " Rank "});
}

TEST_CASE("a row may continue on the next line", "[base]") {
  const auto rows = rows_in("setting a b=1 \\\n    c d=\"2 3\" \\\n    e\nsetting f");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].words == std::vector<std::string_view>{"a", "c", "e"});
  CHECK(rows[0].value("d") == "2 3");
  CHECK(rows[1].word(0) == "f");
}

TEST_CASE("a value of a row may contain '=', and may be a number", "[base]") {
  const auto row = rows_in("setting a needs=\"strategy.stage=3 !b\" count=12").front();
  CHECK(row.value("needs") == "strategy.stage=3 !b");
  CHECK(row.number("count", 1) == 12);
  CHECK(row.number("other", 1) == 1);
  CHECK_THROWS_AS(row.number("needs", 1), ContractViolation);
  CHECK_THROWS_AS(row.word(1), ContractViolation);
  CHECK_THROWS_AS(rows_in("setting \"open"), ContractViolation);
}
