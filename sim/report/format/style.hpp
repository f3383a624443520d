// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>
#include <string_view>

namespace gradway::report {

enum class Paint { none, bold, dim, red, green, yellow, blue, magenta, cyan };

/// How text for people looks. The caller knows the terminal; writers do not ask.
struct Style {
  bool colour = false;
  std::size_t width = 80;
  std::size_t table_width = 80;  ///< tables may use all of a wide terminal, text had better not

  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

  /// The text in a colour, or as it is without colours.
  std::string paint(Paint paint, std::string_view text) const;
};

}  // namespace gradway::report
