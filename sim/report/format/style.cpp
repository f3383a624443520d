// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/style.hpp"

#include <array>
#include <ostream>

#include <fmt/format.h>

#include "sim/report/format/text.hpp"

namespace gradway::report {

std::string Style::paint(Paint paint, std::string_view text) const {
  static constexpr std::array<std::string_view, 9> codes{"0", "1", "2", "31", "32", "33", "34", "35", "36"};
  if (!colour || paint == Paint::none || text.empty()) return std::string{text};
  return fmt::format("\x1b[{}m{}\x1b[0m", codes[static_cast<std::size_t>(paint)], text);
}

void write_wrapped(std::ostream& out, std::string_view text, const Style& style, Paint paint) {
  for (const auto& line : wrap(text, style.width)) out << style.paint(paint, line) << '\n';
}

}  // namespace gradway::report
