// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/printable.hpp"
#include "sim/files/settings_file.hpp"

namespace gradway {
namespace {

using Json = nlohmann::json;

/// Builds settings from the events of the JSON library. Events have no positions, but each is one token of
/// the text, in order, so a cursor follows them.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(SettingsFile& file) : file_{file}, text_{file.text.content} {
    if (text_.starts_with(byte_order_mark)) next_ = byte_order_mark.size();
  }

  bool null() override { return scalar(FileSetting::Kind::null); }
  bool boolean(bool) override { return scalar(FileSetting::Kind::boolean); }
  bool number_integer(std::int64_t) override { return scalar(FileSetting::Kind::number); }
  bool number_unsigned(std::uint64_t) override { return scalar(FileSetting::Kind::number); }
  bool number_float(double, const std::string&) override { return scalar(FileSetting::Kind::number); }
  bool string(std::string& value) override {
    const auto span = token();
    check_characters(value, span);
    put({.kind = FileSetting::Kind::text, .key = {}, .text = value, .span = span});
    return true;
  }
  bool binary(Json::binary_t&) override { return true; }

  bool start_object(std::size_t) override { return open(FileSetting::Kind::table); }
  bool start_array(std::size_t) override { return open(FileSetting::Kind::list); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    key_span_ = token();
    key_ = name;
    check_characters(name, key_span_);
    if (const auto* first = open_.back().find(name)) {
      throw ConfigError{Problem{file_.text.at(key_span_.at, key_span_.length),
                                fmt::format("duplicate key '{}'", name),
                                {{file_.key_place(*first), "the first one is here"}},
                                "remove one of them"}};
    }
    return true;
  }

  bool parse_error(std::size_t read, const std::string&, const nlohmann::detail::exception&) override {
    const auto end = text_.find_last_not_of(" \t\r\n") + 1;
    if (read > end)
      refuse_at(file_.text.at(end - 1, 1), "the JSON is truncated", "check whether the file is truncated");
    const auto offset = read == 0 ? 0 : read - 1;
    refuse_at(file_.text.at(offset, 1), "this is not valid JSON",
              text_[offset] == '/' || text_[offset] == '#'
                  ? "JSON has no comments: remove them"
                  : "check whether the file is truncated or was edited by hand");
  }

 private:
  /// The token of the event.
  FileSetting::Span token() {
    const auto start = std::min(text_.find_first_not_of(" \t\r\n,:", next_), text_.size() - 1);
    auto end = start + 1;
    if (text_[start] == '"') {
      while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, text_.size());
    } else if (std::string_view{"{}[]"}.find(text_[start]) == std::string_view::npos) {
      end = std::min(text_.find_first_of(" \t\r\n,:{}[]\"", start), text_.size());
    }
    next_ = end;
    return {start, end - start};
  }

  void check_characters(std::string_view value, const FileSetting::Span& span) const {
    if (const auto bad = first_control(value, "\t\n"); bad != std::string_view::npos)
      refuse_at(file_.text.at(span.at, span.length),
                fmt::format("the text has the control character {}", code_point(value, bad)), "remove it");
  }

  bool scalar(FileSetting::Kind kind) {
    const auto span = token();
    put({.kind = kind, .key = {}, .text = std::string{text_.substr(span.at, span.length)}, .span = span});
    return true;
  }

  bool open(FileSetting::Kind kind) {
    const auto span = token();
    if (open_.empty() && kind != FileSetting::Kind::table) no_map(span);
    if (static_cast<int>(open_.size()) >= max_setting_depth)
      refuse_at(file_.text.at(span.at, 1),
                fmt::format("lists and maps are nested deeper than {} levels", max_setting_depth),
                "give a file of settings");
    open_.push_back({.kind = kind, .key = key_, .text = {}, .key_span = key_span_, .span = span});
    key_.clear();
    return true;
  }

  bool close() {
    token();
    auto done = std::move(open_.back());
    open_.pop_back();
    if (open_.empty()) {
      file_.root = std::move(done);
    } else {
      add(std::move(done));
    }
    return true;
  }

  void put(FileSetting value) {
    if (open_.empty()) no_map(value.span);
    value.key = key_;
    value.key_span = key_span_;
    add(std::move(value));
  }

  void add(FileSetting value) {
    if (++values_ > most_settings)
      refuse_at(file_.text.whole(), fmt::format("the file has more than {} values", most_settings),
                "give a file of settings");
    open_.back().entries.push_back(std::move(value));
    key_.clear();
    key_span_ = {};
  }

  [[noreturn]] void no_map(const FileSetting::Span& span) const {
    refuse_at(file_.text.at(span.at, span.length), "this JSON is not a map of settings",
              "expected '{' and a key at the start of the file");
  }

  SettingsFile& file_;
  std::string_view text_;
  std::size_t next_ = 0;
  std::string key_;
  FileSetting::Span key_span_{};
  std::vector<FileSetting> open_{};
  int values_ = 0;
};

/// The text with null or 0 for what Python's json writes beyond JSON; as long as the original.
std::string with_finite_numbers(std::string text) {
  bool is_string = false;
  for (std::size_t offset = 0; offset < text.size(); ++offset) {
    if (text[offset] == '\\' && is_string)
      ++offset;
    else if (text[offset] == '"')
      is_string = !is_string;
    if (is_string) continue;
    for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
      if (text.compare(offset, word.size(), word) != 0) continue;
      // "null" is longer than NaN.
      text.replace(offset, word.size(), word == "NaN" ? "0.0" : "null" + std::string(word.size() - 4, ' '));
    }
  }
  return text;
}

}  // namespace

SettingsFile read_json_settings(TextFile text) {
  SettingsFile file{std::move(text), {}};
  Builder builder{file};
  Json::sax_parse(with_finite_numbers(file.text.content), &builder);
  return file;
}

}  // namespace gradway
