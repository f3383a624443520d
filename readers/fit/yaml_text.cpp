// SPDX-License-Identifier: Apache-2.0
#include "readers/fit/yaml_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradway {

std::string quoted_text(std::string_view text) {
  std::string result = "\"";
  for (const auto c : text) {
    if (static_cast<unsigned char>(c) < 0x20) {
      result += c == '\n' ? "\\n" : " ";
      continue;
    }
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string time_text(Seconds time) {
  const auto microseconds = time.value() * 1e6;
  return microseconds < 1000 ? fmt::format("{:.5g} us", microseconds)
                             : fmt::format("{:.5g} ms", microseconds / 1e3);
}

std::string rate_text(BytesPerSecond rate) {
  return fmt::format("{:.5g} GB/s", rate.value() / 1e9);
}

std::string compute_text(FlopsPerSecond rate) {
  return fmt::format("{:.4g} TFLOP/s", rate.value() / 1e12);
}

std::string percent_text(double fraction) {
  return fmt::format("{:.1f} %", fraction * 100);
}

std::string ascii_line(std::string_view text) {
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
