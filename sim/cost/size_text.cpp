// SPDX-License-Identifier: Apache-2.0
#include "sim/cost/size_text.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

namespace gradway {

std::string size_text(Bytes size) {
  struct Scale {
    const char* name;
    Bytes unit;
  };
  constexpr std::array scales{Scale{"GiB", 1_GiB}, Scale{"MiB", 1_MiB}, Scale{"KiB", 1_KiB}};
  for (const auto& [name, unit] : scales) {
    const auto count = size / unit;
    if (count >= 1 && count == std::floor(count)) return fmt::format("{:.0f} {}", count, name);
  }
  return fmt::format("{:.0f} B", size.value());
}

}  // namespace gradway
