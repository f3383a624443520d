// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/config/yaml/literal_text.hpp"

using namespace gradway::config;

namespace {

CutText cut(const std::string& text) {
  return cut_literals(SourceText{"test.yaml", text});
}

}  // namespace

TEST_CASE("a literal text is cut out wherever its key stands, and leaves empty lines", "[config]") {
  const auto result =
      cut("top: |\n  a\n\n    b\nlist:\n  - key: x\n    points: |  # sizes\n      1 KiB\n      2 KiB\n    "
          "more: y\n"
          "  - rows: |\n      c\n");

  REQUIRE(result.literals.size() == 3);
  CHECK(result.literals[0].line == 0);
  CHECK(result.literals[0].indent == 2);
  CHECK(result.literals[0].text == "a\n\n  b\n");
  CHECK(result.literals[1].line == 6);
  CHECK(result.literals[1].indent == 6);
  CHECK(result.literals[1].text == "1 KiB\n2 KiB\n");
  CHECK(result.literals[2].text == "c\n");
  CHECK(result.content ==
        "top: |\n\n\n\nlist:\n  - key: x\n    points: |  # sizes\n\n\n    more: y\n  - rows: |\n");
  CHECK(result.find(6) == &result.literals[1]);
  CHECK(result.find(7) == nullptr);
}

TEST_CASE("what looks like a literal text inside of a folded one stays there", "[config]") {
  const std::string text =
      "source: >-\n  see\n  points: |\n    1\n  end\nkey: >\n    a: |\n\n    b\nlast: |\n  c\n";
  const auto result = cut(text);
  REQUIRE(result.literals.size() == 1);
  CHECK(result.literals[0].line == 9);
  CHECK(result.content == text.substr(0, text.size() - 4));
}

TEST_CASE("without a literal text nothing changes", "[config]") {
  const std::string text = "a: b\nc: '| x'\nd: || \n";
  CHECK(cut(text).content == text);
  CHECK(cut(text).literals.empty());
}
