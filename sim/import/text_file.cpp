// SPDX-License-Identifier: Apache-2.0
#include "sim/import/text_file.hpp"

#include <algorithm>
#include <istream>

#include "sim/import/compressed_file.hpp"

namespace gradway {
namespace {

constexpr std::size_t largest_text = 64'000'000;  // keeps a wrong file from filling memory
constexpr std::size_t longest_picture = 300;      // longer lines are not shown under a message

bool starts_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) != 0x80;  // UTF-8
}

int characters(std::string_view bytes) {
  return static_cast<int>(std::ranges::count_if(bytes, starts_character));
}

/// Escapes would move the caret away from its place.
bool can_be_shown(std::string_view line) {
  return line.size() <= longest_picture &&
         std::ranges::all_of(line, [](unsigned char c) { return c == '\t' || (c >= 0x20 && c != 0x7F); });
}

}  // namespace

void refuse_at(Where where, std::string what, std::string hint) {
  throw ConfigError{Problem{std::move(where), std::move(what), {}, std::move(hint)}};
}

Where TextFile::whole() const {
  Where where;
  where.file = name;
  return where;
}

Where TextFile::at(std::size_t offset, std::size_t length) const {
  const std::string_view text = content;
  offset = std::min(offset, text.size());
  const auto before = text.substr(0, offset);
  const auto start = before.rfind('\n') + 1;  // npos + 1 is 0
  auto line = text.substr(start, text.find('\n', offset) - start);
  if (line.ends_with('\r')) line.remove_suffix(1);
  const auto in_line = std::min(offset - start, line.size());
  return Where{.file = name,
               .line = 1 + static_cast<int>(std::ranges::count(before, '\n')),
               .column = 1 + characters(line.substr(0, in_line)),
               .length = characters(line.substr(in_line, length)),
               .text = can_be_shown(line) ? std::string{line} : ""};
}

std::vector<TextLine> lines_of(std::string_view text) {
  std::vector<TextLine> lines;
  for (std::size_t start = 0; start < text.size();) {
    const auto end = std::min(text.find('\n', start), text.size());
    auto line = text.substr(start, end - start);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back({line, start});
    start = end + 1;
  }
  return lines;
}

TextFile read_text_file(const std::string& name) {
  CompressedFile packed{name, name};
  std::istream in{&packed};
  TextFile file{name, std::string(largest_text + 1, '\0')};
  in.read(file.content.data(), static_cast<std::streamsize>(file.content.size()));
  file.content.resize(static_cast<std::size_t>(in.gcount()));
  if (file.content.size() > largest_text)
    refuse_at(file.whole(), "the file has more than 64 MB",
              "is this the right file? Give the part that matters");
  packed.check();
  if (file.content.find_first_not_of(" \t\r\n") == std::string::npos)
    refuse_at(file.whole(), "the file is empty", "");
  if (file.content.find('\0') != std::string::npos)
    refuse_at(file.whole(), "this is not a text file: it has NUL bytes", "");
  file.content.shrink_to_fit();
  return file;
}

}  // namespace gradway
