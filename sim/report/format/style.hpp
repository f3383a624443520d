// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <limits>
#include <string>
#include <string_view>

namespace gradway::report {

enum class Paint { none, bold, dim, red, green, yellow, blue, magenta, cyan };

/// Format of text for people. The caller chooses it; writers do not inspect the terminal.
struct Style {
  bool colour = false;
  std::size_t width = 80;
  std::size_t table_width = 80;  ///< tables may fill a wide terminal, text should not

  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

  /// The same for lines of any length.
  Style unlimited_width() const { return {colour, unlimited, unlimited}; }
  /// The text in a colour; unchanged without colours.
  std::string paint(Paint paint, std::string_view text) const;
};

/// Writes a text in lines of at most the style's width.
void write_wrapped(std::ostream& out, std::string_view text, const Style& style, Paint paint = Paint::none);

}  // namespace gradway::report
