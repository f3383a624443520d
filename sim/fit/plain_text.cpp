// SPDX-License-Identifier: Apache-2.0
#include "sim/fit/plain_text.hpp"

#include <algorithm>

namespace gradway {

std::string plain_line(std::string_view text) {
  std::string line;
  for (const auto c : text) {
    const auto code = static_cast<unsigned char>(c);
    const bool is_blank = code <= ' ' || code == 0x7F;
    if (is_blank && (line.empty() || line.back() == ' ')) continue;
    line += is_blank ? ' ' : code > 0x7F ? '?' : c;
  }
  if (line.ends_with(' ')) line.pop_back();
  return line;
}

std::string wrapped(std::string_view start, std::string_view text) {
  constexpr std::size_t widest = 118;
  std::string lines;
  while (!text.empty()) {
    const auto room = widest - start.size();
    auto end = text.size() <= room ? text.size() : text.rfind(' ', room);
    if (end == std::string_view::npos || end == 0) end = std::min(text.find(' '), text.size());
    lines.append(start).append(text.substr(0, end)) += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace gradway
