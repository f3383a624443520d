// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include <fmt/format.h>

#include "sim/base/problem.hpp"
#include "sim/platform/description.hpp"

namespace gradway {
namespace {

constexpr int most_names = 100000;

[[noreturn]] void bad_range(const NamePattern& pattern) {
  refuse_at(pattern.where, fmt::format("'{}' is not a name or a range of names", pattern.text),
            "write one name ('gpu3') or a range ('gpu[0-7]')");
}

int number(const NamePattern& pattern, std::string_view digits) {
  int value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || value < 0) bad_range(pattern);
  return value;
}

}  // namespace

std::vector<std::string> expand(const NamePattern& pattern) {
  const std::string_view text = pattern.text;
  const auto open = text.find('[');
  if (open == std::string_view::npos) {
    if (text.empty() || text.find_first_of("] ") != std::string_view::npos) bad_range(pattern);
    return {pattern.text};
  }
  const auto dash = text.find('-', open);
  const auto close = text.find(']', open);
  if (dash == std::string_view::npos || close == std::string_view::npos || dash > close) bad_range(pattern);
  const auto first = number(pattern, text.substr(open + 1, dash - open - 1));
  const auto last = number(pattern, text.substr(dash + 1, close - dash - 1));
  if (last < first || last - first >= most_names) bad_range(pattern);
  std::vector<std::string> names;
  for (int i = first; i <= last; ++i) {
    names.push_back(fmt::format("{}{}{}", text.substr(0, open), i, text.substr(close + 1)));
  }
  return names;
}

}  // namespace gradway
