// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/report/format/text.hpp"

using gradway::report::csv_cell;

TEST_CASE("cells are quoted as in RFC 4180", "[csv]") {
  CHECK(csv_cell("plain") == "plain");
  CHECK(csv_cell("25 MiB") == "25 MiB");
  CHECK(csv_cell("a,b") == "\"a,b\"");
  CHECK(csv_cell("say \"so\"") == "\"say \"\"so\"\"\"");
  CHECK(csv_cell("two\nlines") == "\"two\nlines\"");
  CHECK(csv_cell("two\rlines") == "\"two\rlines\"");
  CHECK(csv_cell("").empty());
}

TEST_CASE("text cells are never evaluated as formulas by spreadsheets", "[csv]") {
  CHECK(csv_cell("=HYPERLINK(1)") == "\"'=HYPERLINK(1)\"");
  CHECK(csv_cell("+1+cmd|' /C calc'!A0") == "\"'+1+cmd|' /C calc'!A0\"");
  CHECK(csv_cell("-2+3") == "\"'-2+3\"");
  CHECK(csv_cell("@SUM(1,\"2\")") == "\"'@SUM(1,\"\"2\"\")\"");
  CHECK(csv_cell("\rno") == "\"'\rno\"");
}

TEST_CASE("signed numbers are not quoted", "[csv]") {
  const auto number = GENERATE("-1", "+5", "-3.5e-3", "1e99");
  CHECK(csv_cell(number) == number);
}
