// SPDX-License-Identifier: Apache-2.0
// YAML as other programs write it: with anchors, merge keys, tags and every style of scalars.
#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "sim/base/printable.hpp"
#include "sim/files/settings_file.hpp"

namespace gradway {
namespace {

using Kind = FileSetting::Kind;

/// The kind and the text of a plain word, by YAML 1.1 as PyYAML reads it, as far as settings need it.
void set_plain(FileSetting& setting, std::string word) {
  // Primus' ${NAME:8}: a variable of the environment, or its default.
  if (const auto colon = word.find(':');
      colon != std::string::npos && word.starts_with("${") && word.ends_with('}'))
    word = word.substr(colon + 1, word.size() - colon - 2);
  constexpr std::array<std::string_view, 6> yes{"true", "True", "TRUE", "yes", "on", "On"};
  constexpr std::array<std::string_view, 6> no{"false", "False", "FALSE", "no", "off", "Off"};
  constexpr std::array<std::string_view, 6> nothing{"", "~", "null", "Null", "NULL", "None"};
  const auto is_among = [&](const auto& words) { return std::ranges::find(words, word) != words.end(); };
  if (is_among(nothing)) {
    setting.kind = Kind::null;
  } else if (is_among(yes) || is_among(no)) {
    setting.kind = Kind::boolean;
    word = is_among(yes) ? "true" : "false";
  } else {
    auto digits = word;
    std::erase_if(digits, [](char c) { return c == '_' || c == '+'; });
    double number = 0;
    const auto* end = digits.data() + digits.size();
    const auto [rest, error] = std::from_chars(digits.data(), end, number);
    setting.kind = error == std::errc{} && rest == end ? Kind::number : Kind::text;
    if (setting.kind == Kind::number) word = std::move(digits);
  }
  setting.text = std::move(word);
}

/// Builds settings from the events of yaml-cpp's parser.
class YamlBuilder final : public YAML::EventHandler {
 public:
  explicit YamlBuilder(SettingsFile& file) : file_{file}, lines_{lines_of(file.text.content)} {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    FileSetting setting;
    setting.kind = Kind::null;
    setting.span = {offset_of(mark), 1};
    put(std::move(setting), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    auto setting = anchors_[anchor];
    setting.span = {offset_of(mark), 1};
    put(std::move(setting), YAML::NullAnchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    FileSetting setting;
    setting.kind = Kind::text;
    setting.text = value;
    const auto offset = offset_of(mark);
    setting.span = {offset, length_at(offset, value)};
    if (first_control(value, "\t\n\r") != std::string_view::npos)
      refuse_at(file_.text.at(offset, 1), "the text contains a control character", "remove it");
    // yaml-cpp gives quoted texts and block scalars the tag "!".
    if (tag != "!") set_plain(setting, value);
    put(std::move(setting), anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Kind::list, mark, anchor);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Kind::table, mark, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

  std::size_t offset_of(const YAML::Mark& mark) const {
    const auto& text = file_.text.content;
    if (mark.line < 0 || static_cast<std::size_t>(mark.line) >= lines_.size()) return text.size();
    const auto& line = lines_[static_cast<std::size_t>(mark.line)];
    return std::min(line.offset + static_cast<std::size_t>(std::max(0, mark.column)), text.size());
  }

 private:
  /// A table or a list whose end has not been read.
  struct Open {
    FileSetting setting{};
    YAML::anchor_t anchor = YAML::NullAnchor;
    bool has_key = false;  ///< the next value is that of the key
    std::string key{};
    FileSetting::Span key_span{};
    std::vector<FileSetting> merged{};  ///< entries of '<<', which the table's own replace
  };

  /// Bytes that a scalar takes on its first line.
  std::size_t length_at(std::size_t offset, std::string_view value) const {
    const std::string_view rest = std::string_view{file_.text.content}.substr(offset);
    if (rest.starts_with(value)) return std::max<std::size_t>(1, value.size());
    const char first = rest.empty() ? ' ' : rest.front();
    const auto end = first == '"' || first == '\'' ? rest.find(first, 1) : std::string_view::npos;
    return end == std::string_view::npos ? 1 : end + 1;
  }

  void open(Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (open_.size() >= max_setting_depth)
      refuse_at(file_.text.at(offset_of(mark), 1),
                fmt::format("tables and lists are nested deeper than {} levels", max_setting_depth), "");
    Open opened;
    opened.setting.kind = kind;
    opened.setting.span = {offset_of(mark), 1};
    opened.anchor = anchor;
    open_.push_back(std::move(opened));
  }

  void close() {
    auto closed = std::move(open_.back());
    open_.pop_back();
    for (auto& entry : closed.merged)
      if (closed.setting.find(entry.key) == nullptr) closed.setting.entries.push_back(std::move(entry));
    put(std::move(closed.setting), closed.anchor);
  }

  static std::size_t size_of(const FileSetting& setting) {
    std::size_t size = 1;
    for (const auto& entry : setting.entries) size += size_of(entry);
    return size;
  }

  void put(FileSetting setting, YAML::anchor_t anchor) {
    values_ += size_of(setting) - setting.entries.size();
    if (values_ > most_settings)
      refuse_at(file_.text.whole(), fmt::format("the file has more than {} values", most_settings),
                "give a file of settings");
    if (anchor != YAML::NullAnchor) anchors_[anchor] = setting;
    if (open_.empty()) {
      file_.root = std::move(setting);
      return;
    }
    auto& parent = open_.back();
    if (parent.setting.kind == Kind::list) return parent.setting.entries.push_back(std::move(setting));
    if (!parent.has_key) {
      parent.has_key = true;
      parent.key = setting.text;
      parent.key_span = setting.span;
      return;
    }
    parent.has_key = false;
    setting.key = std::move(parent.key);
    setting.key_span = parent.key_span;
    if (setting.kind == Kind::null && setting.text.empty()) setting.span = setting.key_span;
    if (setting.key == "<<") return merge(parent, setting);
    // Of several with one key the last counts, as in PyYAML.
    auto& entries = parent.setting.entries;
    const auto earlier = std::ranges::find(entries, setting.key, &FileSetting::key);
    earlier == entries.end() ? entries.push_back(std::move(setting)) : std::swap(*earlier, setting);
  }

  static void merge(Open& parent, const FileSetting& setting) {
    const auto add = [&](const FileSetting& table) {
      parent.merged.insert(parent.merged.end(), table.entries.begin(), table.entries.end());
    };
    if (setting.kind == Kind::table) add(setting);
    for (const auto& item : setting.entries)
      if (setting.kind == Kind::list) add(item);
  }

  SettingsFile& file_;
  std::vector<TextLine> lines_;
  std::vector<Open> open_{};
  std::map<YAML::anchor_t, FileSetting> anchors_{};
  std::size_t values_ = 0;
};

}  // namespace

SettingsFile read_yaml_settings(TextFile text) {
  text.check_encoding();
  SettingsFile file{std::move(text), {}};
  YamlBuilder builder{file};
  std::istringstream stream{file.text.content};
  try {
    YAML::Parser parser{stream};
    parser.HandleNextDocument(builder);
  } catch (const YAML::ParserException& error) {
    refuse_at(file.text.at(builder.offset_of(error.mark), 1), "invalid YAML: " + error.msg,
              "the keys of a map start in the same column and are followed by ': '");
  }
  if (file.root.kind != Kind::table)
    refuse_at(file.text.whole(), "this YAML is not a map of settings", "expected lines such as 'key: value'");
  return file;
}

}  // namespace gradway
