// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/warning_words.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace gradway::report {

std::vector<std::string> describe(const std::vector<Warning>& warnings) {
  std::vector<std::string> lines;
  lines.reserve(warnings.size());
  for (const auto& warning : warnings) lines.push_back(warning.sentence);
  return lines;
}

std::vector<std::string_view> codes_of(const std::vector<Warning>& warnings) {
  std::vector<std::string_view> codes;
  codes.reserve(warnings.size());
  for (const auto& warning : warnings) codes.push_back(warning.code);
  return codes;
}

std::vector<std::string> with_codes(const std::vector<Warning>& warnings) {
  std::vector<std::string> lines;
  lines.reserve(warnings.size());
  for (const auto& warning : warnings)
    lines.push_back(fmt::format("{} [{}]", warning.sentence, warning.code));
  return lines;
}

bool is_extrapolation(const Warning& warning) {
  constexpr std::array<std::string_view, 3> codes{"extrapolated-collectives", "contention-not-measured",
                                                  "extrapolated-contention"};
  return std::ranges::find(codes, warning.code) != codes.end();
}

}  // namespace gradway::report
