// SPDX-License-Identifier: Apache-2.0
#include "sim/base/rows.hpp"

#include <algorithm>

#include "sim/base/contract.hpp"
#include "sim/base/number.hpp"
#include "sim/base/text.hpp"

namespace gradway {
namespace {

constexpr std::string_view continuation = "\\\n";

/// The part up to one of these characters, which is removed.
std::string_view cut(std::string_view& text, std::string_view ends) {
  const auto prefix = text.substr(0, text.find_first_of(ends));
  text.remove_prefix(prefix.size());
  return prefix;
}

/// A word, or a text in quotes.
std::string_view cut_word(std::string_view& text) {
  if (!text.starts_with('"')) return cut(text, " ");
  text.remove_prefix(1);
  const auto word = cut(text, "\"");
  expects(!text.empty(), "each quote is closed");
  text.remove_prefix(1);
  return word;
}

TextRow row_in(std::string_view line) {
  TextRow row;
  row.kind = cut(line, " ");
  while (!(line = trimmed(line)).empty()) {
    const auto name = line.starts_with('"') ? std::string_view{} : line.substr(0, line.find_first_of(" =\""));
    if (!name.empty() && line.substr(name.size()).starts_with('=')) {
      line.remove_prefix(name.size() + 1);
      row.values.emplace_back(name, cut_word(line));
    } else {
      const auto word = cut_word(line);
      if (word != continuation) row.words.push_back(word);
    }
  }
  return row;
}

}  // namespace

std::string_view TextRow::word(std::size_t position) const {
  expects(position < words.size(), "the row has this word");
  return words[position];
}

std::string_view TextRow::value(std::string_view name) const {
  const auto entry = std::ranges::find(values, name, &decltype(values)::value_type::first);
  return entry == values.end() ? std::string_view{} : entry->second;
}

int TextRow::number(std::string_view name, int otherwise) const {
  const auto text = value(name);
  if (text.empty()) return otherwise;
  const auto number = leading_number(text);
  expects(number.has_value(), "the value is a whole number");
  return *number;
}

double TextRow::real(std::string_view name, double otherwise) const {
  const auto text = value(name);
  if (text.empty()) return otherwise;
  double number = 0;
  const auto parsed = read_number(text.data(), text.data() + text.size(), number);
  expects(parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size(), "the value is a number");
  return number;
}

std::vector<TextRow> rows_in(std::string_view text) {
  std::vector<TextRow> rows;
  while (!text.empty()) {
    auto end = text.find('\n');
    while (end != std::string_view::npos && text.substr(0, end).ends_with('\\'))
      end = text.find('\n', end + 1);
    const auto line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end, text.size() - 1) + 1);
    if (!line.empty() && !line.starts_with('#')) rows.push_back(row_in(line));
  }
  return rows;
}

}  // namespace gradway
