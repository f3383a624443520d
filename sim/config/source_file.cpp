// SPDX-License-Identifier: Apache-2.0
#include "sim/config/source_file.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>

#include <fmt/format.h>

#include "sim/config/problems.hpp"

namespace gradway::config {
namespace {

constexpr std::size_t largest_file =
    4 << 20;  // far above any description; keeps a wrong file from filling memory
constexpr std::size_t longest_picture = 300;  // longer lines are not shown under a message
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

std::vector<std::string> split_lines(std::string_view content) {
  std::vector<std::string> lines;
  while (!content.empty()) {
    const auto end = content.find('\n');
    auto line = content.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    content.remove_prefix(end == std::string_view::npos ? content.size() : end + 1);
  }
  return lines;
}

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

int characters(std::string_view bytes) {
  return static_cast<int>(std::ranges::count_if(bytes, [](char c) { return !is_continuation(c); }));
}

/// How many bytes the character with this first byte has; 0 if none begins so (RFC 3629).
std::size_t encoded_length(char first) {
  const auto byte = static_cast<unsigned char>(first);
  if (byte < 0x80) return 1;
  if (byte >= 0xC2 && byte < 0xE0) return 2;
  if (byte >= 0xE0 && byte < 0xF0) return 3;
  return byte >= 0xF0 && byte < 0xF5 ? 4 : 0;
}

/// Index of the first byte that is no UTF-8, or npos.
std::size_t first_bad_byte(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto length = encoded_length(text[at]);
    const auto tail = text.substr(at + 1, length == 0 ? 0 : length - 1);
    if (length == 0 || tail.size() + 1 != length || !std::ranges::all_of(tail, is_continuation)) return at;
    at += length;
  }
  return std::string_view::npos;
}

}  // namespace

Where in_file(const std::string& shown) {
  Where where;
  where.file = shown;
  return where;
}

SourceText::SourceText(std::string shown, std::string content)
    : shown_{std::move(shown)}, content_{std::move(content)} {
  if (content_.starts_with(byte_order_mark)) content_.erase(0, byte_order_mark.size());
  lines_ = split_lines(content_);
  if (content_.find('\0') != std::string::npos) {
    fail(whole(), "this is not a text file: it has NUL bytes", "gradway reads YAML in UTF-8");
  }
  std::vector<Problem> tabs;
  for (int index = 0; index < static_cast<int>(lines_.size()); ++index) {
    const auto& text = line(index);
    if (const auto bad = first_bad_byte(text); bad != std::string::npos) {
      auto where = place(index, static_cast<int>(bad), 1);
      where.text.clear();
      fail(where, "this byte is not UTF-8", "save the file in UTF-8");
    }
    const auto indent = text.find_first_not_of(" \t");
    const auto tab = text.find('\t');
    if (indent != std::string::npos && tab < indent && text[indent] != '#') {
      tabs.push_back({place(index, static_cast<int>(tab), 1), "a tab cannot indent YAML", {}, "use blanks"});
    }
  }
  if (!tabs.empty()) throw ConfigError{std::move(tabs)};
}

SourceText::SourceText(const Where& where, std::string content)
    : shown_{where.file}, content_{std::move(content)}, lines_{split_lines(content_)}, fixed_{where} {}

Where SourceText::whole() const {
  return fixed_ ? *fixed_ : in_file(shown_);
}

Where SourceText::place(int line, int byte_column, int bytes) const {
  if (fixed_) return *fixed_;
  const std::string_view text = this->line(line);
  const auto start = std::min(text.size(), static_cast<std::size_t>(std::max(0, byte_column)));
  return Where{.file = shown_,
               .line = line + 1,
               .column = 1 + characters(text.substr(0, start)),
               .length = characters(text.substr(start, static_cast<std::size_t>(std::max(0, bytes)))),
               .text = text.size() > longest_picture ? "" : std::string{text}};
}

const std::string& SourceText::line(int zero_based) const {
  static const std::string none;
  const auto index = static_cast<std::size_t>(zero_based);
  return zero_based >= 0 && index < lines_.size() ? lines_[index] : none;
}

SourceText read_source(const std::filesystem::path& path, const std::string& shown) {
  const Where where = in_file(shown);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail(where, "this is a folder, not a file");
  if (!std::filesystem::exists(path, ignored)) fail(where, "there is no such file");
  std::ifstream stream{path, std::ios::binary};
  if (!stream) fail(where, "the file cannot be read", "check its permissions");
  std::string content;
  for (std::array<char, 16384> part{}; stream && content.size() <= largest_file;) {
    stream.read(part.data(), part.size());
    content.append(part.data(), static_cast<std::size_t>(stream.gcount()));
  }
  if (content.size() > largest_file)
    fail(where, "the file is larger than 4 MiB", "is it really a description?");
  return SourceText{shown, std::move(content)};
}

}  // namespace gradway::config
