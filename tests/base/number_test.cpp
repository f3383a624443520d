// SPDX-License-Identifier: Apache-2.0
#include "sim/base/number.hpp"

#include <charconv>
#include <cmath>
#include <cstring>
#include <string>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "sim/base/random.hpp"

using namespace gradway;

namespace {

/// Both functions read the same value from the text, stop at the same place and report the same error.
void compare(const std::string& text) {
  INFO("'" << text << "'");
  double expected = 7, found = 7;
  const auto* const end = text.data() + text.size();
  const auto by_library = std::from_chars(text.data(), end, expected);
  const auto by_strtod = read_double_by_strtod(text.data(), end, found);
  CHECK(by_strtod.ptr - text.data() == by_library.ptr - text.data());
  CHECK(by_strtod.ec == by_library.ec);
  if (std::isnan(expected)) {
    CHECK(std::isnan(found));
  } else {
    CHECK(std::memcmp(&found, &expected, sizeof found) == 0);
  }
}

}  // namespace

TEST_CASE("numbers are read by strtod as by from_chars", "[base]") {
  for (const auto* text : {"",
                           "-",
                           "+1",
                           "0",
                           "-0",
                           "1",
                           "1.",
                           ".5",
                           "-.5",
                           ".",
                           "1.5 GB/s",
                           "1e3",
                           "1e",
                           "1e+",
                           "1E-3x",
                           "2e+05",
                           "0x10",
                           "1,5",
                           " 1",
                           "inf",
                           "-inf",
                           "Infinity",
                           "infin",
                           "nan",
                           "-NaN",
                           "nanosecond",
                           "1e999",
                           "-1e999",
                           "1e-999",
                           "0e999",
                           "0.0e-999",
                           "4.9e-324",
                           "2.2250738585072011e-308",
                           "1.7976931348623157e308",
                           "1.7976931348623159e308",
                           "9007199254740993",
                           "--1",
                           "1-2",
                           "e5",
                           "00012"})
    compare(text);
}

TEST_CASE("random numbers are read by strtod as by from_chars", "[base]") {
  Random random{7, RandomStream::step};
  for (int i = 0; i < 2000; ++i) {
    const auto value = std::ldexp(random.uniform() - 0.5, static_cast<int>(random.uniform() * 400) - 200);
    compare(fmt::format("{}", value));
    compare(fmt::format("{:.20e} ms", value));
    compare(fmt::format("{:.3f}", value));
  }
}
