// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/csv.hpp"

#include <charconv>
#include <string_view>

namespace gradway::report {

namespace {

bool is_number(const std::string& text) {
  // `from_chars` knows no plus.
  const auto* first = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto* last = text.data() + text.size();
  double ignored = 0;
  return std::from_chars(first, last, ignored).ptr == last && first != last;
}

/// Spreadsheets run what begins like this.
/// @source OWASP, "CSV Injection"; the apostrophe before it, which they do not show, is their own way out
bool is_formula(const std::string& text) {
  return !text.empty() && std::string_view{"=+-@\t\r"}.find(text.front()) != std::string_view::npos &&
         !is_number(text);
}

}  // namespace

std::string csv_cell(const std::string& text) {
  const bool formula = is_formula(text);
  if (!formula && text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string cell = formula ? "\"'" : "\"";
  for (const auto c : text) cell += c == '"' ? std::string{"\"\""} : std::string{c};
  return cell + "\"";
}

}  // namespace gradway::report
