// SPDX-License-Identifier: Apache-2.0
#include "sim/base/number.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

namespace gradway {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// End of the word at `at`, in any case; `at` if another text is there.
const char* after_word(const char* at, const char* last, std::string_view word) {
  if (static_cast<std::size_t>(last - at) < word.size()) return at;
  const bool is_word = std::equal(word.begin(), word.end(), at, [](char wanted, char found) {
    return wanted == std::tolower(static_cast<unsigned char>(found));
  });
  return is_word ? at + word.size() : at;
}

/// End of the decimal number at `at`, without a sign; `at` if there is none.
const char* after_decimal(const char* at, const char* last) {
  const auto* const whole = std::find_if_not(at, last, is_digit);
  const auto* end = whole;
  auto digits = whole - at;
  if (end != last && *end == '.') {
    const auto* const fraction = std::find_if_not(end + 1, last, is_digit);
    digits += fraction - (end + 1);
    end = fraction;
  }
  if (digits == 0) return at;
  if (end != last && (*end == 'e' || *end == 'E')) {
    const auto* exponent = end + 1;
    if (exponent != last && (*exponent == '+' || *exponent == '-')) ++exponent;
    const auto* const after = std::find_if_not(exponent, last, is_digit);
    if (after != exponent) end = after;
  }
  return end;
}

}  // namespace

std::from_chars_result read_double_by_strtod(const char* first, const char* last, double& value) {
  const bool is_negative = first != last && *first == '-';
  const auto* const start = first + (is_negative ? 1 : 0);
  for (const std::string_view infinite : {"infinity", "inf", "nan"}) {
    const auto* const end = after_word(start, last, infinite);
    if (end == start) continue;
    const auto number = infinite == "nan" ? std::numeric_limits<double>::quiet_NaN()
                                          : std::numeric_limits<double>::infinity();
    value = is_negative ? -number : number;
    return {end, std::errc{}};
  }
  const auto* const end = after_decimal(start, last);
  if (end == start) return {first, std::errc::invalid_argument};
  const auto number = std::strtod(std::string{first, end}.c_str(), nullptr);
  const bool has_digits =
      std::any_of(start, std::find_if(start, end, [](char c) { return c == 'e' || c == 'E'; }),
                  [](char c) { return c >= '1' && c <= '9'; });
  if (std::isinf(number) || (number == 0 && has_digits)) return {end, std::errc::result_out_of_range};
  value = number;
  return {end, std::errc{}};
}

}  // namespace gradway
