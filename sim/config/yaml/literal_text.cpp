// SPDX-License-Identifier: Apache-2.0
#include "sim/config/yaml/literal_text.hpp"

#include <algorithm>
#include <string_view>

namespace gradway::config {
namespace {

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz_0123456789";

/// The column of the key if the line ends in `key: ` and a mark, with an optional comment; else -1. The dash
/// of a list item may precede the key.
int column_of_text(std::string_view line, char mark) {
  const auto key = std::min(line.find_first_not_of(" -"), line.size());
  const auto colon = std::min(line.find_first_not_of(letters, key), line.size());
  line.remove_prefix(colon);
  if (colon == key || !line.starts_with(": ")) return -1;
  line.remove_prefix(std::min(line.find_first_not_of(' ', 1), line.size()));
  if (!line.starts_with(mark)) return -1;
  line.remove_prefix(1);
  if (mark == '>' && line.find_first_of("+-") == 0) line.remove_prefix(1);
  const auto first_text = line.find_first_not_of(' ');
  const bool is_all = first_text == std::string_view::npos || (first_text > 0 && line[first_text] == '#');
  return is_all ? static_cast<int>(key) : -1;
}

/// Whether the line belongs to a text of a key in that column.
bool is_below(std::string_view line, int column) {
  const auto indent = line.find_first_not_of(' ');
  return indent == std::string_view::npos || static_cast<int>(indent) > column;
}

}  // namespace

const LiteralText* CutText::find(int line) const {
  const auto literal = std::ranges::lower_bound(literals, line, {}, &LiteralText::line);
  return literal == literals.end() || literal->line != line ? nullptr : &*literal;
}

CutText cut_literals(const SourceText& source) {
  CutText result;
  for (int number = 0; number < source.line_count(); ++number) {
    const std::string_view opening = source.line(number);
    result.content.append(opening).push_back('\n');
    const auto folded = column_of_text(opening, '>');
    while (folded >= 0 && number + 1 < source.line_count() && is_below(source.line(number + 1), folded)) {
      result.content.append(source.line(++number)).push_back('\n');
    }
    const auto column = column_of_text(opening, '|');
    if (column < 0) continue;
    LiteralText literal{.line = number, .indent = 0, .text = {}};
    while (number + 1 < source.line_count()) {
      const std::string_view line = source.line(number + 1);
      const auto indent = line.find_first_not_of(' ');
      if (indent != std::string_view::npos) {
        if (!is_below(line, column)) break;
        if (literal.indent == 0) literal.indent = static_cast<int>(indent);
        if (static_cast<int>(indent) < literal.indent) break;
        literal.text += line.substr(static_cast<std::size_t>(literal.indent));
      }
      literal.text += '\n';
      result.content += '\n';
      ++number;
    }
    result.literals.push_back(std::move(literal));
  }
  if (result.literals.empty()) {
    result.content = source.content();
  } else {
    while (result.content.ends_with("\n\n")) result.content.pop_back();  // yaml-cpp is slow for each line
  }
  return result;
}

}  // namespace gradway::config
