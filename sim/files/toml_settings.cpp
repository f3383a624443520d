// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
// toml++ 3.3 checks a key such as "[}]" by an assertion before it reports the error.
#define TOML_ASSERT(condition) static_cast<void>(0)
#include <fmt/format.h>
#include <toml++/toml.h>

#include "sim/base/printable.hpp"
#include "sim/files/settings_file.hpp"

namespace gradway {
namespace {

/// Converts toml++'s tree into settings with their byte ranges.
class Converter {
 public:
  explicit Converter(const SettingsFile& file) : file_{file}, lines_{lines_of(file.text.content)} {}

  /// Byte offset of a position; toml++ counts lines and characters from 1.
  std::size_t offset_of(const toml::source_position& place) const {
    const auto& text = file_.text.content;
    if (place.line == 0 || place.line > lines_.size()) return text.size();
    const auto& line = lines_[place.line - 1];
    auto offset = line.offset;
    if (place.line == 1 && text.starts_with(byte_order_mark)) offset += byte_order_mark.size();
    for (auto characters = place.column; characters > 1 && offset < text.size(); --characters) {
      ++offset;
      while (offset < text.size() && is_continuation(text[offset])) ++offset;
    }
    return std::min(offset, text.size());
  }

  FileSetting table_of(const toml::table& table, int depth) {
    check(table, depth);
    FileSetting result;
    for (const auto& [key, node] : table) {
      auto entry = setting_of(node, depth + 1);
      entry.key = key.str();
      entry.key_span = span_of(key.source());
      if (entry.span.length == 0) entry.span = entry.key_span;  // A table has no range of its own.
      refuse_control_characters(entry.key, entry.key_span);
      result.entries.push_back(std::move(entry));
    }
    // toml++ sorts keys by name; we keep the order of the file.
    std::ranges::sort(result.entries, {}, [](const FileSetting& entry) { return entry.key_span.at; });
    return result;
  }

 private:
  static bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

  FileSetting::Span span_of(const toml::source_region& region) const {
    const auto begin = offset_of(region.begin);
    return {begin, std::max(begin, offset_of(region.end)) - begin};
  }

  void check(const toml::node& node, int depth) {
    if (depth > max_setting_depth)
      refuse_at(file_.text.at(offset_of(node.source().begin), 1),
                fmt::format("tables and lists are nested deeper than {} levels", max_setting_depth), "");
    if (++values_ > most_settings + 1)
      refuse_at(file_.text.whole(), fmt::format("the file has more than {} values", most_settings),
                "give a file of settings");
  }

  FileSetting setting_of(const toml::node& node, int depth) {
    FileSetting result;
    if (const auto* table = node.as_table()) {
      result = table_of(*table, depth);
    } else if (const auto* array = node.as_array()) {
      check(node, depth);
      result.kind = FileSetting::Kind::list;
      for (const auto& item : *array) result.entries.push_back(setting_of(item, depth + 1));
    } else {
      check(node, depth);
      result = scalar_of(node);
    }
    if (!node.is_table() || node.as_table()->is_inline()) result.span = span_of(node.source());
    return result;
  }

  FileSetting scalar_of(const toml::node& node) const {
    FileSetting result;
    const auto span = span_of(node.source());
    auto written = file_.text.content.substr(span.at, span.length);
    result.kind = FileSetting::Kind::text;
    result.text = written;  // A date or a time.
    if (const auto text = node.value_exact<std::string>()) {
      result.text = *text;
      refuse_control_characters(result.text, span);
    } else if (node.is_boolean()) {
      result.kind = FileSetting::Kind::boolean;
    } else if (node.is_number()) {
      result.kind = FileSetting::Kind::number;
      const auto prefix = written.substr(0, 2);
      if (prefix == "0x" || prefix == "0o" || prefix == "0b") written = fmt::to_string(**node.as_integer());
      std::erase_if(written, [](char c) { return c == '_' || c == '+'; });
      result.text = std::move(written);
    }
    return result;
  }

  void refuse_control_characters(std::string_view text, const FileSetting::Span& span) const {
    if (first_control(text, "\t\n\r") == std::string_view::npos) return;
    refuse_at(file_.text.at(span.at, span.length), "the text contains a control character", "remove it");
  }

  const SettingsFile& file_;
  std::vector<TextLine> lines_;
  int values_ = 0;
};

}  // namespace

SettingsFile read_toml_settings(TextFile text) {
  text.check_encoding();
  SettingsFile file{std::move(text), {}};
  Converter converter{file};
  const auto parsed = toml::parse(std::string_view{file.text.content});
  if (!parsed) {
    const auto& error = parsed.error();
    std::string message{error.description()};
    if (message.starts_with("Error")) message.front() = 'e';
    refuse_at(file.text.at(converter.offset_of(error.source().begin), 1), "invalid TOML: " + message, "");
  }
  file.root = converter.table_of(parsed.table(), 0);
  return file;
}

}  // namespace gradway
