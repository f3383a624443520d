// SPDX-License-Identifier: Apache-2.0
#include "sim/fit/yaml_text.hpp"

#include <fmt/format.h>

namespace gradway {

std::string quoted(std::string_view text) {
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

}  // namespace gradway
