// SPDX-License-Identifier: Apache-2.0
#include "readers/prices/csv.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "sim/base/text.hpp"

namespace gradway {
namespace {

/// The length of a text in double quotes, with them, that begins at `start`. @throws ConfigError without its
/// end
std::size_t quoted_length(const TextFile& file, std::size_t start) {
  const std::string_view text = file.content;
  for (auto end = text.find('"', start + 1); end != std::string_view::npos; end = text.find('"', end + 2))
    if (end + 1 == text.size() || text[end + 1] != '"') return end + 1 - start;
  refuse_at(file.at(start, 1), "this quote is not closed", "check whether the file is truncated");
}

std::string unquoted(std::string_view quoted) {
  std::string text;
  for (std::size_t i = 1; i + 1 < quoted.size(); ++i) {
    text += quoted[i];
    if (quoted[i] == '"') ++i;
  }
  return text;
}

}  // namespace

std::vector<std::vector<CsvCell>> csv_rows(const TextFile& file) {
  const std::string_view text = file.content;
  std::vector<std::vector<CsvCell>> rows;
  std::vector<CsvCell> row;
  std::size_t start = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  while (start < text.size()) {
    start = std::min(text.find_first_not_of(" \t", start), text.size());
    const bool is_quoted = start < text.size() && text[start] == '"';
    const auto quoted = is_quoted ? quoted_length(file, start) : 0;
    const auto end = std::min(text.find_first_of(",\n", start + quoted), text.size());
    const auto cell = trimmed(text.substr(start, end - start));
    const bool is_whole = is_quoted && cell.size() == quoted;
    row.push_back({is_whole ? unquoted(cell) : std::string{cell}, start, cell.size()});
    if (end == text.size() || text[end] == '\n') {
      if (row.size() == 1 && row.front().text.empty()) row.clear();  // a blank line
      if (!row.empty()) rows.push_back(std::exchange(row, {}));
    } else if (end + 1 == text.size()) {
      row.push_back({"", text.size(), 0});
      rows.push_back(std::exchange(row, {}));
    }
    start = end + 1;
  }
  return rows;
}

}  // namespace gradway
