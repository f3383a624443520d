// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/base/printable.hpp"
#include "sim/base/problem.hpp"

using namespace gradway;

TEST_CASE("bytes that are not UTF-8 are found") {
  CHECK(first_bad_byte("plain, Größe, 漢字, \U0001F600") == std::string::npos);
  CHECK(first_bad_byte("ab\xff") == 2);
  CHECK(first_bad_byte("a\xc3(") == 1);       // an incomplete character
  CHECK(first_bad_byte("\xc0\x80") == 0);     // overlong encoding of zero
  CHECK(first_bad_byte("abc\xe6\xbc") == 3);  // cut off
  CHECK(characters("Größe") == 5);
}

TEST_CASE("control characters are found and escaped, others are not changed") {
  CHECK(first_control("plain, Größe, 漢字") == std::string::npos);
  CHECK(first_control("a\x1b[31m") == 1);
  CHECK(first_control("ab\x7f") == 2);
  CHECK(first_control("\xc2\x9b"
                      "31m") == 0);  // U+009B begins a sequence as ESC [ does
  CHECK(first_control("a\xe2\x80\xae"
                      "b") == 1);  // U+202E turns the order of what follows
  CHECK(first_control("a\tb") == 1);
  CHECK(first_control("a\tb", "\t") == std::string::npos);
  CHECK(first_control("\xff\xfe") == std::string::npos);  // not UTF-8
  CHECK(code_point("a\xe2\x80\xae", 1) == "U+202E");
  CHECK(printable("a\x1b[31m, Größe\n") == "a\\x1b[31m, Größe\\x0a");
  CHECK(printable("a\nb", "\n") == "a\nb");
  CHECK(printable("\xe2\x80\xae"
                  "exe") == "\\u202eexe");
  CHECK(printable("trace-\xff.json") == "trace-\\xff.json");
  CHECK(printable(printable("\x1b\xff")) == printable("\x1b\xff"));
}

TEST_CASE("a long text is shortened in its middle between characters, and shortening is idempotent") {
  const auto cut = shortened("unknown key '" + std::string(4'000'000, 'x') + "' here", 100);
  CHECK(cut.size() < 170);
  CHECK_THAT(cut, Catch::Matchers::StartsWith("unknown key 'xxx") && Catch::Matchers::EndsWith("xxx' here"));
  CHECK_THAT(cut, Catch::Matchers::Contains(" ... (3999919 more characters) ... "));
  CHECK(shortened(cut, 100) == cut);
  CHECK(shortened("short", 100) == "short");
  std::string wide;
  for (int i = 0; i < 1000; ++i) wide += "漢";
  for (std::size_t most = 90; most < 96; ++most)
    CHECK(first_bad_byte(shortened(wide, most)) == std::string::npos);
}

TEST_CASE("a user error contains no control characters and no megabytes") {
  const std::string name = "a\x1b[2J.yaml";
  const ConfigError error{Problem{{name, 1, 1, 0, "x: \"\x1b\""},
                                  "unknown key '" + std::string(4'000'000, 'x') + "'",
                                  {{{name, 2, 1, 0, ""}, "here\rthere"}},
                                  "write \xe2\x80\xae"}};
  const std::string text = error.what();
  CHECK(text.size() < 1200);
  CHECK_THAT(text, Catch::Matchers::StartsWith("a\\x1b[2J.yaml:1:1: error: unknown key 'xxx"));
  CHECK_THAT(text, Catch::Matchers::Contains(
                       "\n  note: a\\x1b[2J.yaml:2:1: here\\x0dthere\n  hint: write \\u202e\n"));
  CHECK(first_control(text, "\n") == std::string::npos);
  CHECK(first_control(error.problems().front().what) == std::string::npos);  // the text of sweeps and pages
}
