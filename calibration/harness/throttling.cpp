// SPDX-License-Identifier: Apache-2.0
#include "calibration/harness/throttling.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gradway::probe {
namespace {

struct Reason {
  std::uint64_t bit;
  std::string_view name;
};
constexpr std::array slowing{
    Reason{0x04, "its power limit"},
    Reason{0x08, "a hardware slow-down"},
    Reason{0x20, "its temperature (by the driver)"},
    Reason{0x40, "its temperature (by the hardware)"},
    Reason{0x80, "the server's power brake"},
};

}  // namespace

std::string throttling_text(int gpu, const std::vector<std::uint64_t>& reasons) {
  std::vector<std::string> parts;
  for (const auto& reason : slowing) {
    const auto count =
        std::ranges::count_if(reasons, [&](std::uint64_t bits) { return (bits & reason.bit) != 0; });
    if (count == 0) continue;
    parts.push_back(fmt::format("{} in {:.0f} % of the time", reason.name,
                                100.0 * static_cast<double>(count) / static_cast<double>(reasons.size())));
  }
  if (parts.empty()) return {};
  return fmt::format("GPU {} was slowed by {}", gpu, fmt::join(parts, ", "));
}

}  // namespace gradway::probe
