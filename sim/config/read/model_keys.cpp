// SPDX-License-Identifier: Apache-2.0
#include "sim/config/read/model_parts.hpp"

#include <cstdlib>

#include <fmt/format.h>

namespace gradway::config {
namespace {

int nearest_divisor(int of, int wanted) {
  int best = 1;
  for (int divisor = 1; divisor <= of; ++divisor) {
    if (of % divisor == 0 && std::abs(divisor - wanted) < std::abs(best - wanted)) best = divisor;
  }
  return best;
}

}  // namespace

void check_divides(Reader& file, const char* part_key, int part, const char* whole_key, int whole) {
  if (part < 1 || whole % part == 0) return;  // 0: it could not be read
  file.error(file.value_place(part_key),
             fmt::format("{} {} does not divide {} {}", part_key, part, whole_key, whole),
             fmt::format("{} {} would fit", part_key, nearest_divisor(whole, part)),
             {{file.value_place(whole_key), fmt::format("{} is {}", whole_key, whole)}});
}

}  // namespace gradway::config
