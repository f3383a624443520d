// SPDX-License-Identifier: Apache-2.0
#include "readers/samples/json_row.hpp"

#include <algorithm>

#include "sim/base/printable.hpp"

namespace gradway {
namespace {

constexpr std::string_view blanks = " \t\r\n";

/// Offset after the quoted text that begins at `offset`.
std::size_t behind_quotes(std::string_view text, std::size_t offset) {
  for (++offset; offset < text.size() && text[offset] != '"'; ++offset) {
    if (text[offset] == '\\') ++offset;
  }
  return std::min(offset + 1, text.size());
}

/// Offset after the value that begins at `offset`.
std::size_t behind_value(std::string_view text, std::size_t offset) {
  int depth = 0;
  while (offset < text.size()) {
    const auto c = text[offset];
    if (depth == 0 && (c == ',' || c == ']' || c == '}')) return offset;
    if (c == '"') {
      offset = behind_quotes(text, offset);
      continue;
    }
    depth += c == '[' || c == '{' ? 1 : 0;
    depth -= c == ']' || c == '}' ? 1 : 0;
    ++offset;
  }
  return offset;
}

std::size_t behind_blanks(std::string_view text, std::size_t offset) {
  return std::min(text.find_first_not_of(blanks, offset), text.size());
}

/// Offset of the value after the one at `offset` and its ','.
std::size_t next_value(std::string_view text, std::size_t offset) {
  offset = behind_value(text, offset);
  return behind_blanks(text, std::min(offset + 1, text.size()));
}

std::size_t row_offset(std::string_view text, std::size_t index) {
  auto offset = behind_blanks(text, std::min(text.find('[') + 1, text.size()));
  while (index-- > 0) offset = next_value(text, offset);
  return offset;
}

}  // namespace

Where JsonPlaces::whole() const {
  Where where;
  where.file = file_;
  return where;
}

Where JsonPlaces::at(std::size_t offset, std::size_t length) const {
  const auto before = text_.substr(0, std::min(offset, text_.size()));
  const auto start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  const auto line = text_.substr(start, std::min(text_.find('\n', start), text_.size()) - start);
  return Where{.file = file_,
               .line = 1 + static_cast<int>(std::ranges::count(before, '\n')),
               .column = 1 + static_cast<int>(characters(before.substr(start))),
               .length = static_cast<int>(std::min(length, start + line.size() - before.size())),
               .text = shown_line(line)};
}

Where JsonPlaces::row(std::size_t index) const {
  return at(row_offset(text_, index), 1);
}

Where JsonPlaces::value(std::size_t index, std::string_view key) const {
  const auto row = row_offset(text_, index);
  for (auto name = behind_blanks(text_, row + 1); name < text_.size() && text_[name] == '"';) {
    const auto end = behind_quotes(text_, name);
    const auto colon = text_.find(':', end);
    if (colon == std::string_view::npos) break;
    const auto value = behind_blanks(text_, colon + 1);
    if (text_.substr(name + 1, end - name - 2) == key) {
      const auto value_text = text_.substr(value, behind_value(text_, value) - value);
      return at(value, value_text.find_last_not_of(blanks) + 1);
    }
    name = next_value(text_, value);
  }
  return at(row, 1);
}

}  // namespace gradway
