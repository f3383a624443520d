// SPDX-License-Identifier: Apache-2.0
#include "sim/config/yaml/source_file.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/config/yaml/disk.hpp"
#include "sim/config/yaml/problems.hpp"

namespace gradway::config {
namespace {

constexpr std::size_t largest_file = 4 << 20;  // far above any valid file; bounds the memory for a wrong one
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

/// Whether the text has only printable ASCII and line ends, and therefore passes all checks.
bool is_printable_ascii(std::string_view content) {
  return std::ranges::all_of(content, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
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
  if (is_printable_ascii(content_)) return;
  if (content_.find('\0') != std::string::npos) {
    fail(whole(), "the file is not a text file: it contains NUL bytes", "gradway reads YAML in UTF-8");
  }
  std::vector<Problem> tabs;
  for (int index = 0; index < static_cast<int>(lines_.size()); ++index) {
    const auto& text = line(index);
    if (const auto bad = first_bad_byte(text); bad != std::string::npos)
      fail(place(index, static_cast<int>(bad), 1), "invalid UTF-8 byte", "save the file in UTF-8");
    if (const auto bad = first_control(text, "\t"); bad != std::string::npos) {
      fail(place(index, static_cast<int>(bad), 1),
           fmt::format("unexpected control character {}", code_point(text, bad)), "remove it");
    }
    const auto indent = text.find_first_not_of(" \t");
    const auto tab = text.find('\t');
    if (indent != std::string::npos && tab < indent && text[indent] != '#') {
      tabs.push_back({place(index, static_cast<int>(tab), 1),
                      "a tab must not be used for indentation",
                      {},
                      "use spaces"});
    }
  }
  if (!tabs.empty()) throw ConfigError{std::move(tabs)};
}

SourceText::SourceText(const Where& where, std::string content)
    : shown_{where.file}, content_{std::move(content)}, lines_{split_lines(content_)}, fixed_{where} {
  if (const auto bad = first_control(content_, "\t\n"); bad != std::string::npos)
    fail(where, fmt::format("'{}' contains the control character {}", content_, code_point(content_, bad)),
         "remove it");
}

Where SourceText::whole() const {
  return fixed_ ? *fixed_ : in_file(shown_);
}

Where SourceText::place(int line, int byte_column, int bytes) const {
  if (fixed_) return *fixed_;
  const std::string_view text = this->line(line);
  const auto start = std::min(text.size(), static_cast<std::size_t>(std::max(0, byte_column)));
  if (last_.line != line || last_.byte > start) last_ = {.line = line};
  last_.characters += characters(text.substr(last_.byte, start - last_.byte));
  last_.byte = start;
  auto shown = shown_line(text);
  const auto marked = shown.empty() ? "" : text.substr(start, static_cast<std::size_t>(std::max(0, bytes)));
  return Where{.file = shown_,
               .line = line + 1,
               .column = 1 + static_cast<int>(last_.characters),
               .length = static_cast<int>(characters(marked)),
               .text = std::move(shown)};
}

const std::string& SourceText::line(int zero_based) const {
  static const std::string none;
  const auto index = static_cast<std::size_t>(zero_based);
  return zero_based >= 0 && index < lines_.size() ? lines_[index] : none;
}

SourceText read_source(const std::filesystem::path& path, const std::string& shown) {
  const Where where = in_file(shown);
  if (is_folder(path)) fail(where, "the path is a folder, not a file");
  if (!is_file(path)) fail(where, "there is no such file");
  auto content = read_bytes(path, largest_file);
  if (!content) fail(where, "the file cannot be read", "check its permissions");
  if (content->size() > largest_file)
    fail(where, "the file is larger than 4 MiB", "check that it is a file for gradway");
  return SourceText{shown, *std::move(content)};
}

}  // namespace gradway::config
