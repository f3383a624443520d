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

/// End of the word at `first`, in any case; `first` if another text is there.
const char* after_word(const char* first, const char* last, std::string_view word) {
  if (static_cast<std::size_t>(last - first) < word.size()) return first;
  const bool is_word = std::equal(word.begin(), word.end(), first, [](char wanted, char actual) {
    return wanted == std::tolower(static_cast<unsigned char>(actual));
  });
  return is_word ? first + word.size() : first;
}

/// End of the decimal number at `first`, without a sign; `first` if there is none.
const char* after_decimal(const char* first, const char* last) {
  const auto* const whole_end = std::find_if_not(first, last, is_digit);
  const auto* end = whole_end;
  auto digits = whole_end - first;
  if (end != last && *end == '.') {
    const auto* const fraction = std::find_if_not(end + 1, last, is_digit);
    digits += fraction - (end + 1);
    end = fraction;
  }
  if (digits == 0) return first;
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
