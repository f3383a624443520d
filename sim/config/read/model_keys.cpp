// SPDX-License-Identifier: Apache-2.0
#include "sim/config/read/model_parts.hpp"

#include <cstdlib>

#include <fmt/format.h>

namespace gradway::config {
namespace {

int nearest_divisor(int number, int wanted) {
  int best = 1;
  for (int divisor = 1; divisor <= number; ++divisor) {
    if (number % divisor == 0 && std::abs(divisor - wanted) < std::abs(best - wanted)) best = divisor;
  }
  return best;
}

}  // namespace

void check_divides(Reader& file, const char* divisor_key, int divisor, const char* dividend_key,
                   int dividend) {
  if (divisor < 1 || dividend % divisor == 0) return;  // 0: it could not be read
  file.error(file.value_place(divisor_key),
             fmt::format("{} {} does not divide {} {}", divisor_key, divisor, dividend_key, dividend),
             fmt::format("{} {} would fit", divisor_key, nearest_divisor(dividend, divisor)),
             {{file.value_place(dividend_key), fmt::format("{} is {}", dividend_key, dividend)}});
}

void check_positions(Reader& file, int sequence, int positions) {
  if (file.is_valid() && sequence > positions)
    file.error(file.value_place("sequence"),
               fmt::format("sequence {} is longer than the {} positions", sequence, positions),
               fmt::format("positions {} would fit", sequence));
}

}  // namespace gradway::config
