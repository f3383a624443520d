// SPDX-License-Identifier: Apache-2.0
#include "sim/report/search/python_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gradway::report {
namespace {

constexpr std::size_t longest_line = 76;

}  // namespace

std::string python_text(std::string_view text) {
  std::string result = "\"";
  for (const auto c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string python_call(std::string_view start, const std::vector<std::string>& arguments) {
  const auto line = fmt::format("{}({})", start, fmt::join(arguments, ", "));
  if (line.size() <= longest_line) return line + "\n";
  return fmt::format("{}(\n    {},\n)\n", start, fmt::join(arguments, ",\n    "));
}

}  // namespace gradway::report
