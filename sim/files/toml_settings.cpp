// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/files/settings_file.hpp"

namespace gradway {
namespace {

constexpr std::string_view what_is_read =
    "gradway reads [tables] and lines of 'key = value': a text in quotes, a number, true, false, or a list";

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_hexadecimal(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
constexpr bool is_bare(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

/// Takes digits off the text, with '_' between them; whether there were some.
bool take_digits(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && (is_digit(text[end]) || (text[end] == '_' && end > 0 && text[end - 1] != '_')))
    ++end;
  const bool sound = end > 0 && text[end - 1] != '_';
  text.remove_prefix(end);
  return sound;
}

/// TOML's decimal numbers.
bool is_number(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  if (text.size() > 1 && text[0] == '0' && (is_digit(text[1]) || text[1] == '_')) return false;
  if (!take_digits(text)) return false;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (!take_digits(text)) return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (!take_digits(text)) return false;
  }
  return text.empty();
}

void append_utf8(std::string& text, unsigned code) {
  const auto byte = [&](unsigned value) { text += static_cast<char>(value); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xC0U | code >> 6U);
  } else if (code < 0x10000) {
    byte(0xE0U | code >> 12U);
    byte(0x80U | (code >> 6U & 0x3FU));
  } else {
    byte(0xF0U | code >> 18U);
    byte(0x80U | (code >> 12U & 0x3FU));
    byte(0x80U | (code >> 6U & 0x3FU));
  }
  byte(0x80U | (code & 0x3FU));
}

class Parser {
 public:
  explicit Parser(SettingsFile& file) : file_{file}, text_{file.text.content}, table_{&file.root} {}

  void parse() {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    for (skip_lines(); at_ < text_.size(); skip_lines()) {
      if (text_[at_] == '[') {
        header();
      } else {
        entry();
      }
      end_of_line();
    }
  }

 private:
  struct Key {
    std::string name;
    FileSetting::Span span;
  };

  [[noreturn]] void refuse(std::size_t at, std::size_t length, std::string what,
                           std::string hint = std::string{what_is_read}) const {
    refuse_at(file_.text.at(at, length), std::move(what), std::move(hint));
  }

  char here() const { return at_ < text_.size() ? text_[at_] : '\n'; }

  void skip_blanks() {
    while (here() == ' ' || here() == '\t' || here() == '\r') ++at_;
  }
  void skip_comment() {
    if (here() == '#') at_ = std::min(text_.find('\n', at_), text_.size());
  }
  /// To the next thing that counts, on this line or further down.
  void skip_lines() {
    for (;;) {
      skip_blanks();
      skip_comment();
      if (at_ >= text_.size() || text_[at_] != '\n') return;
      ++at_;
    }
  }
  void end_of_line() {
    skip_blanks();
    skip_comment();
    if (here() != '\n') refuse(at_, 1, "the line does not end where its value ends", "one key a line");
  }

  Key key() {
    skip_blanks();
    const auto start = at_;
    std::string name;
    if (here() == '"' || here() == '\'') {
      name = string();
    } else {
      while (is_bare(here())) ++at_;
      name = text_.substr(start, at_ - start);
      if (name.empty()) refuse(at_, 1, "no key can stand here");
    }
    return {std::move(name), {start, at_ - start}};
  }

  /// Keys with dots between them.
  std::vector<Key> keys() {
    std::vector<Key> all{key()};
    for (skip_blanks(); here() == '.'; skip_blanks()) {
      ++at_;
      all.push_back(key());
      if (static_cast<int>(all.size()) > deepest_setting)
        refuse(all.back().span.at, 1, fmt::format("tables are nested more than {} deep", deepest_setting));
    }
    return all;
  }

  void header() {
    const auto start = at_++;
    if (here() == '[') refuse(start, 2, "lists of tables cannot be read");
    const auto path = keys();
    if (here() != ']') refuse(at_, 1, "the name of a table ends with ']'", "write it as in [training]");
    ++at_;
    std::string whole;
    table_ = &file_.root;
    for (const auto& part : path) {
      table_ = &table_in(*table_, part);
      whole.append(part.name).append(1, '\0');
    }
    if (!declared_.insert(whole).second)
      throw ConfigError{Problem{file_.text.at(start, at_ - start),
                                fmt::format("table '{}' stands in the file twice", path.back().name),
                                {{file_.key_place(*table_), "it is here, too"}},
                                "put its keys together"}};
  }

  /// The table of a key, which is made if there is none.
  FileSetting& table_in(FileSetting& parent, const Key& key) {
    const auto found = std::ranges::find(parent.entries, key.name, &FileSetting::key);
    if (found == parent.entries.end())
      return add(parent, {.kind = FileSetting::Kind::table, .key = {}, .text = {}, .span = key.span}, key);
    if (found->kind != FileSetting::Kind::table) twice(key, *found);
    return *found;
  }

  [[noreturn]] void twice(const Key& key, const FileSetting& first) const {
    throw ConfigError{Problem{file_.text.at(key.span.at, key.span.length),
                              fmt::format("key '{}' stands here twice", key.name),
                              {{file_.key_place(first), "it is here, too"}},
                              "remove one of them"}};
  }

  FileSetting& add(FileSetting& parent, FileSetting value, const Key& key) {
    if (++values_ > most_settings)
      refuse_at(file_.text.whole(), fmt::format("the file has more than {} values", most_settings),
                "is this a file of settings?");
    value.key = key.name;
    value.key_span = key.span;
    return parent.entries.emplace_back(std::move(value));
  }

  void entry() {
    const auto path = keys();
    if (here() != '=') refuse(at_, 1, fmt::format("a '=' belongs behind the key '{}'", path.back().name));
    ++at_;
    auto* parent = table_;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) parent = &table_in(*parent, path[i]);
    if (const auto* first = parent->find(path.back().name)) twice(path.back(), *first);
    skip_blanks();
    add(*parent, value(0), path.back());
  }

  FileSetting value(int depth) {
    const auto start = at_;
    FileSetting result;
    if (here() == '"' || here() == '\'') {
      result.kind = FileSetting::Kind::text;
      result.text = string();
    } else if (here() == '[') {
      result = list(depth);
    } else if (here() == '{') {
      refuse(at_, 1, "tables in braces cannot be read", "write it as a [table] of its own");
    } else {
      result = word();
    }
    result.span = {start, at_ - start};
    return result;
  }

  FileSetting list(int depth) {
    if (depth >= deepest_setting)
      refuse(at_, 1, fmt::format("lists are nested more than {} deep", deepest_setting));
    const auto start = at_++;
    FileSetting result;
    result.kind = FileSetting::Kind::list;
    for (;;) {
      skip_lines();
      if (at_ >= text_.size()) refuse(start, 1, "a '[' is not closed", "add the missing ']'");
      if (here() == ']') break;
      add(result, value(depth + 1), {});
      skip_lines();
      if (here() == ',') {
        ++at_;
      } else if (at_ < text_.size() && here() != ']') {
        refuse(at_, 1, "a ',' or ']' belongs here", "items of a list have ',' between them");
      }
    }
    ++at_;
    return result;
  }

  /// A number, true or false.
  FileSetting word() {
    const auto start = at_;
    at_ = std::min(text_.find_first_of(" \t\r\n,]#=", at_), text_.size());
    const auto word = text_.substr(start, at_ - start);
    if (word.empty()) refuse(start, 1, "a value is missing here");
    FileSetting result;
    if (word == "true" || word == "false") {
      result.kind = FileSetting::Kind::boolean;
      result.text = word;
      return result;
    }
    if (!is_number(word)) refuse(start, word.size(), fmt::format("'{}' is no value", shortened(word, 100)));
    result.kind = FileSetting::Kind::number;
    std::ranges::copy_if(word, std::back_inserter(result.text), [](char c) { return c != '_' && c != '+'; });
    return result;
  }

  /// A text on one line, in either kind of quotes.
  std::string string() {
    const auto start = at_;
    const auto quote = text_[at_++];
    if (text_.substr(start, 3) == std::string(3, quote))
      refuse(start, 3, "texts of several lines cannot be read");
    std::string result;
    for (; here() != quote; ++at_) {
      if (here() == '\n') refuse(start, 1, "a quote is not closed", "add the missing quote");
      if (here() == '\\' && quote == '"') {
        escape(result);
      } else {
        result += here();
      }
    }
    ++at_;
    return result;
  }

  /// Behind it, the cursor is on the last character of the escape.
  void escape(std::string& result) {
    const auto start = at_++;
    constexpr std::string_view names = "\"\\tn";
    constexpr std::string_view values = "\"\\\t\n";
    if (const auto which = names.find(here()); which != std::string_view::npos) {
      result += values[which];
      return;
    }
    const std::size_t digits = here() == 'u' ? 4 : here() == 'U' ? 8 : 0;
    const auto code_text = text_.substr(std::min(at_ + 1, text_.size()), digits);
    if (digits == 0 || code_text.size() < digits || !std::ranges::all_of(code_text, is_hexadecimal))
      refuse(start, 2, "this is no escape that can be read", "write two backslashes for one");
    const auto code = std::stoul(std::string{code_text}, nullptr, 16);
    std::string character;
    const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
    if (code <= 0x10FFFF && !is_surrogate) append_utf8(character, static_cast<unsigned>(code));
    if (character.empty() || first_control(character, "\t\n") != std::string_view::npos)
      refuse(start, digits + 2, "this is no character that may stand in a text", "remove it");
    result += character;
    at_ += digits;
  }

  SettingsFile& file_;
  std::string_view text_;
  std::size_t at_ = 0;
  FileSetting* table_;
  std::set<std::string> declared_{};
  int values_ = 0;
};

}  // namespace

SettingsFile read_toml_settings(TextFile text) {
  if (const auto bad = first_bad_byte(text.content); bad != std::string_view::npos)
    refuse_at(text.at(bad, 1), "this is no UTF-8", "save the file as UTF-8");
  SettingsFile file{std::move(text), {}};
  Parser{file}.parse();
  return file;
}

}  // namespace gradway
