// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/sparkline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

namespace gradway::report {

// Numbers for people have four digits.
constexpr double not_shown = 5e-4;

std::string sparkline(const std::vector<double>& values) {
  static constexpr std::array<std::string_view, 8> levels{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::size_t middle = 3;
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (const auto value : values) {
    if (!std::isfinite(value)) continue;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  const bool is_flat = most / 2 - least / 2 <= not_shown * std::max(std::abs(most), std::abs(least)) / 2;
  std::string line;
  for (const auto value : values) {
    if (!std::isfinite(value)) {
      line += ' ';
      continue;
    }
    // Shares first: the difference of two finite values need not be finite.
    const auto share = !is_flat ? (value / 2 - least / 2) / (most / 2 - least / 2) : -1;
    line += levels[share < 0 ? middle : static_cast<std::size_t>(std::lround(share * (levels.size() - 1)))];
  }
  return line;
}

}  // namespace gradway::report
