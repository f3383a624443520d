// SPDX-License-Identifier: Apache-2.0
#include "sim/import/topology/matrix_lines.hpp"

#include <algorithm>
#include <array>

namespace gradway {
namespace {

using namespace std::string_view_literals;

/// What is left of an escape sequence without its first character: underline on, all off.
constexpr std::array bare_escapes{"[4m"sv, "[0m"sv, "[24m"sv};

/// Behind the terminal's escape sequence that begins at `at`, such as ESC[4m; `at` itself if none does.
std::size_t behind_escape(std::string_view text, std::size_t at) {
  for (const auto bare : bare_escapes) {
    if (text.substr(at).starts_with(bare)) return at + bare.size();
  }
  if (text[at] != '\x1b') return at;
  ++at;
  if (at < text.size() && text[at] == '[') {
    ++at;
    while (at < text.size() && (text[at] < '@' || text[at] > '~')) ++at;
  }
  return std::min(at + 1, text.size());
}

std::vector<MatrixWord> words_of(std::string_view line, int number) {
  std::vector<MatrixWord> words;
  bool is_open = false;
  for (std::size_t at = 0; at < line.size();) {
    if (const auto behind = behind_escape(line, at); behind != at) {
      at = behind;
      continue;
    }
    const bool is_blank = static_cast<unsigned char>(line[at]) <= ' ';
    if (!is_blank && !is_open) words.push_back({"", static_cast<int>(at) + 1, number});
    if (!is_blank) words.back().text += line[at];
    is_open = !is_blank;
    ++at;
  }
  return words;
}

}  // namespace

std::vector<std::string> MatrixLine::fields() const {
  std::vector<std::string> fields(1);
  auto word = words.begin();
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\t') fields.emplace_back();
    if (word == words.end() || static_cast<int>(at) + 1 != word->column) continue;
    fields.back() += word->text;
    ++word;
  }
  return fields;
}

std::vector<MatrixLine> matrix_lines(std::string_view text) {
  std::vector<MatrixLine> lines;
  for (int number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    lines.push_back({words_of(line, number), std::string{line}});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace gradway
