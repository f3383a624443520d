// SPDX-License-Identifier: Apache-2.0
#include "sim/files/text_file.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/printable.hpp"

namespace gradway {

Where TextFile::whole() const {
  Where where;
  where.file = name;
  return where;
}

Where TextFile::at(std::size_t offset, std::size_t length) const {
  const std::string_view text = content;
  offset = std::min(offset, text.size());
  const auto before = text.substr(0, offset);
  const auto start = before.rfind('\n') + 1;  // npos + 1 is 0.
  auto line = text.substr(start, text.find('\n', offset) - start);
  if (line.ends_with('\r')) line.remove_suffix(1);
  const auto number = 1 + static_cast<int>(std::ranges::count(before, '\n'));
  return place_in({line, start, number}, name, offset, length);
}

void TextFile::check_encoding() const {
  if (const auto bad = first_bad_byte(content); bad != std::string_view::npos)
    refuse_at(at(bad, 1), "the file is not valid UTF-8", "save the file as UTF-8");
}

Where place_in(const TextLine& line, const std::string& file, std::size_t offset, std::size_t length) {
  const auto in_line = std::min(offset - line.offset, line.text.size());
  return Where{.file = file,
               .line = line.number,
               .column = 1 + static_cast<int>(characters(line.text.substr(0, in_line))),
               .length = static_cast<int>(characters(line.text.substr(in_line, length))),
               .text = shown_line(line.text)};
}

std::vector<TextLine> lines_of(std::string_view text) {
  std::vector<TextLine> lines;
  for (std::size_t start = 0; start < text.size();) {
    const auto end = std::min(text.find('\n', start), text.size());
    auto line = text.substr(start, end - start);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back({line, start, static_cast<int>(lines.size()) + 1});
    start = end + 1;
  }
  return lines;
}

}  // namespace gradway
