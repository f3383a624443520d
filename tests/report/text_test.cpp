// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/text.hpp"

#include <algorithm>
#include <sstream>

#include <catch2/catch.hpp>

#include "sim/report/format/table.hpp"

using namespace gradway;
using namespace gradway::report;

TEST_CASE("numbers for people have at most four digits and the unit that fits", "[report][text]") {
  CHECK(time_text(Seconds{0.09193}) == "91.93 ms");
  CHECK(time_text(Seconds{0}) == "0 s");
  CHECK(time_text(1.1_us) == "1.1 us");
  CHECK(time_text(Seconds{0.00099999}) == "1 ms");
  CHECK(time_text(Seconds{90}) == "1.5 min");
  CHECK(time_text(Seconds{3e-12}) == "0.003 ns");
  CHECK(time_text(Seconds{-0.002}) == "-2 ms");
  CHECK(bytes_text(Bytes{1226141600}) == "1.226 GB");
  CHECK(bytes_text(Bytes{999}) == "999 B");
  CHECK(rate_text(450_GBps) == "450 GB/s");
  CHECK(count_text(4.411e9, "FLOP") == "4.411 GFLOP");
  CHECK(count_text(1500, "") == "1.5 k");
  CHECK(percent_text(0.1234) == "12.3 %");
  CHECK(signed_percent_text(-0.005) == "-0.50 %");
  CHECK(signed_percent_text(0.0125) == "+1.25 %");
  CHECK(thousands_text(306535400) == "306,535,400");
  CHECK(thousands_text(-1000) == "-1,000");
  CHECK(thousands_text(999) == "999");
  CHECK(counted_text(1, "node") == "1 node");
  CHECK(counted_text(1024, "node") == "1,024 nodes");
}

TEST_CASE("sizes of a scenario are written exactly", "[report][text]") {
  CHECK(exact_bytes_text(25_MiB) == "25 MiB");
  CHECK(exact_bytes_text(2000_MiB) == "2000 MiB");
  CHECK(exact_bytes_text(1_GiB) == "1 GiB");
  CHECK(exact_bytes_text(100_MB) == "100 MB");
  CHECK(exact_bytes_text(Bytes{1234567}) == "1234567 B");
  CHECK(exact_bytes_text(Bytes{0}) == "0 B");
  CHECK(exact_bytes_text(Bytes{0.5}) == "0.5 B");
}

TEST_CASE("text is cut and wrapped by terminal columns", "[report][text]") {
  CHECK(columns_of("\x1b[31m█▒\x1b[0m a") == 4);
  CHECK(fit("node0.gpu0 -> fabric", 11) == "node0…abric");
  CHECK(fit("█████", 3) == "█…█");
  CHECK(fit("short", 5) == "short");
  CHECK(fit("x", 0).empty());
  CHECK(shorten("a long text", 7) == "a long…");
  CHECK(wrap("one two three", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(wrap("sevenletters a", 5) == std::vector<std::string>{"seven", "lette", "rs a"});
  CHECK(wrap("", 5) == std::vector<std::string>{""});
}

TEST_CASE("foreign escape sequences count as columns when text is cut", "[report][text]") {
  const auto name = std::string(60, 'a') + "\x1b[31m " + std::string(60, 'b');  // a colour takes no columns
  CHECK(columns_of(name) == 121);
  CHECK(columns_of(fit(name, 40)) == 40);
  const auto open =
      std::string(60, 'a') + "\x1b" + std::string(60, 'm');  // not a colour sequence: it counts as columns
  CHECK(columns_of(open) == 121);
  for (std::size_t width = 1; width < 130; ++width) {
    CHECK(columns_of(fit(open, width)) == std::min<std::size_t>(width, 121));
    CHECK(columns_of(shorten(open, width)) == std::min<std::size_t>(width, 121));
  }
}

TEST_CASE("a table cell keeps our colours and escapes other control characters", "[report][text]") {
  CHECK(one_line("\x1b[31mred\x1b[0m") == "\x1b[31mred\x1b[0m");
  CHECK(one_line("a\x1b[2Jb\nc\x1b") == "a\\x1b[2Jb\\x0ac\\x1b");
}

TEST_CASE("the first sentence ends at a full stop followed by a blank", "[report][text]") {
  CHECK(first_sentence("AWS p4d.24xlarge, 2.5 GB/s. More of it.") == "AWS p4d.24xlarge, 2.5 GB/s");
  CHECK(first_sentence("no stop") == "no stop");
  CHECK(first_sentence("one.\ntwo.") == "one");
  CHECK(first_sentence("over\ntwo lines.") == "over two lines");
  CHECK(first_sentence("").empty());
}

TEST_CASE("a table aligns its columns and cuts only the first", "[report][text]") {
  using enum Table::Align;
  Table table{{{"link", left}, {"busy", right}}};
  table.add({"a", "1 %"});
  table.add({"a link with a long name", "100 %"});
  std::ostringstream wide;
  std::ostringstream narrow;

  table.write(wide, Style{});
  table.write(narrow, Style{false, 80, 20});

  CHECK(wide.str() ==
        "link                      busy\n"
        "a                          1 %\n"
        "a link with a long name  100 %\n");
  CHECK(narrow.str() ==
        "link            busy\n"
        "a                1 %\n"
        "a link…g name  100 %\n");
}
