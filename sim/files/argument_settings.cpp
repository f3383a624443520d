// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/files/settings_file.hpp"

namespace gradway {
namespace {

constexpr std::size_t longest_word = 100'000;
constexpr std::string_view blanks_of_lines = " \t\r";

bool is_letter_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_identifier(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_letter_of_name);
}

/// A setting whose kind follows from its word.
FileSetting setting_of(std::string word, FileSetting::Span span) {
  FileSetting setting;
  double number = 0;
  const auto* end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, number);
  setting.kind = word == "true" || word == "false"     ? FileSetting::Kind::boolean
                 : error == std::errc{} && rest == end ? FileSetting::Kind::number
                                                       : FileSetting::Kind::text;
  setting.text = std::move(word);
  setting.span = span;
  return setting;
}

/// Adds a setting. Of several with one name the last is kept, as argparse does.
void put(ArgumentSettings& arguments, FileSetting setting) {
  auto& entries = arguments.file.root.entries;
  if (entries.size() + arguments.replaced.size() >= most_settings)
    refuse_at(arguments.file.text.whole(), fmt::format("the file has more than {} arguments", most_settings),
              "give a file with a command line");
  const auto earlier = std::ranges::find_if(entries, [&](const FileSetting& entry) {
    return entry.key == setting.key && entry.group == setting.group;
  });
  if (earlier == entries.end()) {
    entries.push_back(std::move(setting));
    return;
  }
  std::swap(*earlier, setting);
  if (earlier->text != setting.text) arguments.replaced.push_back(std::move(setting));
}

/// Extracts the arguments from a shell script, wherever they occur.
class ShellText {
 public:
  explicit ShellText(ArgumentSettings& arguments)
      : arguments_{arguments}, text_{arguments.file.text.content}, end_{text_.size()} {}

  void read() {
    while (at_ < end_) {
      skip_blanks();
      if (at_ >= end_) break;
      if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), end_);
      } else if (ends_word(text_[at_])) {
        ++at_;
      } else {
        auto next = word();
        if (!next.has_arguments && next.text.size() > 2 && next.text.starts_with("--")) read_argument(next);
      }
    }
  }

 private:
  struct Word {
    std::string text;
    FileSetting::Span span{};
    bool has_arguments = false;  ///< It contains arguments, which are read separately.
  };

  static bool ends_word(char c) { return std::string_view{"\n;&|()<>"}.find(c) != std::string_view::npos; }
  bool is_continuation() const {
    const auto upcoming = text_.substr(at_, std::min<std::size_t>(3, end_ - at_));
    return upcoming.starts_with("\\\n") || upcoming.starts_with("\\\r\n");
  }

  void skip_blanks() {
    for (; at_ < end_; ++at_) {
      if (is_continuation()) {
        at_ = text_.find('\n', at_);
      } else if (blanks_of_lines.find(text_[at_]) == std::string_view::npos) {
        return;
      }
    }
  }

  /// Reads an argument and the values after it; without a value it is a switch.
  void read_argument(const Word& word) {
    const auto equals = std::min(word.text.find('='), word.text.size());
    auto name = word.text.substr(2, equals - 2);
    std::ranges::replace(name, '-', '_');
    auto setting = setting_of("true", word.span);
    if (equals < word.text.size()) {
      setting = setting_of(word.text.substr(equals + 1), word.span);
    } else if (has_value()) {
      skip_blanks();
      auto value = this->word();
      setting = setting_of(std::move(value.text), value.span);
      while (has_value() && setting.entries.size() < most_settings) {
        skip_blanks();
        auto further = this->word();
        setting.entries.push_back(setting_of(std::move(further.text), further.span));
      }
    }
    setting.key = std::move(name);
    setting.key_span = word.span;
    put(arguments_, std::move(setting));
  }

  /// Whether a value follows on the line.
  bool has_value() {
    const auto start = at_;
    skip_blanks();
    bool result = at_ < end_ && (text_[at_] == '(' || !ends_word(text_[at_])) && text_[at_] != '#';
    if (result) {
      ShellText ahead{*this};
      ahead.is_lookahead_ = true;
      const auto next = ahead.word();
      result = !next.has_arguments && !next.text.starts_with("--");
    }
    at_ = start;
    return result;
  }

  /// Reads a word; also performs assignments. A value in parentheses without quotes is one word.
  Word word() {
    Word result;
    const auto start = at_;
    std::string variable;
    if (text_[at_] == '(') {
      at_ = std::min({text_.find(')', at_), text_.find('\n', at_), end_ - 1}) + 1;
      result.text = text_.substr(start, at_ - start);
    }
    while (at_ < end_ && !ends_word(text_[at_]) &&
           blanks_of_lines.find(text_[at_]) == std::string_view::npos && !is_continuation()) {
      const char c = text_[at_];
      if (c == '=' && variable.empty() && is_assigned(result.text)) {
        variable = result.text.substr(0, result.text.find('+'));
        result.text.clear();
        ++at_;
      } else if (c == '"' || c == '\'') {
        quoted(c, result);
      } else if (c == '$') {
        expand(result);
      } else {
        if (c == '\\' && at_ + 1 < end_) ++at_;
        result.text += text_[at_++];
      }
    }
    result.span = {start, at_ - start};
    if (variable.empty()) return result;
    variables_[variable] = result.has_arguments ? "--" : result.text;
    result.has_arguments = true;
    return result;
  }

  static bool is_assigned(std::string_view text) {
    if (text.ends_with('+')) text.remove_suffix(1);
    return is_identifier(text);
  }

  void quoted(char quote, Word& word) {
    const auto open = at_++;
    auto close = at_;
    while (close < text_.size() && text_[close] != quote)
      close += text_[close] == '\\' && quote == '"' ? 2 : 1;
    if (close >= text_.size()) {
      refuse_at(arguments_.file.text.at(open, 1), "missing closing quote", "add the missing quote");
    }
    if (holds_arguments(text_.substr(at_, close - at_))) {
      word.has_arguments = true;
      if (!is_lookahead_) {
        ShellText inside{*this};
        inside.end_ = close;
        inside.read();
      }
    }
    while (at_ < close) {
      if (quote == '"' && text_[at_] == '$') {
        expand(word);
      } else {
        if (quote == '"' && text_[at_] == '\\') ++at_;
        word.text += text_[at_++];
      }
    }
    at_ = close + 1;
  }

  /// Whether the text contains arguments, as "--a 1 --b", rather than "a text".
  static bool holds_arguments(std::string_view text) {
    for (auto dashes = text.find("--"); dashes != std::string_view::npos;
         dashes = text.find("--", dashes + 2)) {
      if (dashes == 0 || std::string_view{" \t\r\n"}.find(text[dashes - 1]) != std::string_view::npos)
        return true;
    }
    return false;
  }

  /// Expands $NAME, ${NAME} and ${NAME:-otherwise}; everything else is kept as written.
  void expand(Word& word) {
    const auto start = at_++;
    const char open = at_ < end_ ? text_[at_] : ' ';
    if (open == '(' || open == '{') {
      const char close = open == '(' ? ')' : '}';
      for (int depth = 0; at_ < end_; ++at_) {
        depth += text_[at_] == open ? 1 : text_[at_] == close ? -1 : 0;
        if (depth == 0) break;
      }
      at_ = std::min(at_ + 1, end_);
    } else {
      while (at_ < end_ && is_letter_of_name(text_[at_])) ++at_;
    }
    auto inner = text_.substr(start, at_ - start);
    const auto written = inner;
    inner.remove_prefix(open == '{' ? 2 : 1);
    if (open == '{' && inner.ends_with('}')) inner.remove_suffix(1);
    const auto mark = std::min(inner.find_first_of(":[-"), inner.size());
    const auto variable = variables_.find(std::string{inner.substr(0, mark)});
    if (inner.substr(mark).starts_with("[")) {
      word.has_arguments = true;
    } else if (variable != variables_.end()) {
      if (variable->second == "--") word.has_arguments = true;
      word.text += variable->second;
    } else if (const auto otherwise = inner.find('-', mark); open == '{' && otherwise < inner.size()) {
      auto value = inner.substr(otherwise + 1);
      if (value.size() > 1 && value.front() == '"' && value.back() == '"')
        value = value.substr(1, value.size() - 2);
      word.text += value;
    } else {
      word.text += written;
    }
    if (word.text.size() > longest_word)
      refuse_at(arguments_.file.text.at(start, written.size()), "the value of the variable is too long",
                "write its value instead");
  }

  ArgumentSettings& arguments_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t end_;
  bool is_lookahead_ = false;
  std::map<std::string, std::string> variables_{};
};

/// Reads YAML of one 'key: value' per line. Keys may be in groups; values are scalars or lists of scalars.
class YamlLines {
 public:
  explicit YamlLines(ArgumentSettings& arguments) : arguments_{arguments} {}

  void read() {
    for (const auto& line : lines_of(arguments_.file.text.content)) read(line);
    finish();
  }

 private:
  /// A key without a value on its line: of a group or of a list.
  struct Open {
    std::size_t indent = 0;
    FileSetting setting{};
  };

  void read(const TextLine& line) {
    const auto first = line.text.find_first_not_of(blanks_of_lines);
    if (first == std::string_view::npos || line.text[first] == '#' || line.text.starts_with("---")) return;
    if (line.text.substr(first).starts_with("- ")) return read_item(line, first);
    finish();
    while (!open_.empty() && open_.back().indent >= first) open_.pop_back();
    const auto colon = line.text.find(':', first);
    const auto key = line.text.substr(first, std::min(colon, line.text.size()) - first);
    const FileSetting::Span key_span{line.offset + first, key.size()};
    std::string name{key};
    std::ranges::replace(name, '-', '_');
    if (colon == std::string_view::npos || !is_identifier(name))
      refuse_at(arguments_.file.text.at(key_span.at, std::max<std::size_t>(1, key_span.length)),
                "this line is not 'key: value'", "write one argument per line, as in 'num_layers: 24'");
    const auto from = std::min(line.text.find_first_not_of(blanks_of_lines, colon + 1), line.text.size());
    const auto value = value_at(line, from);
    auto setting =
        value.starts_with('[') && value.ends_with(']') ? list(line, from, value) : scalar(line, from, value);
    setting.key = std::move(name);
    setting.key_span = key_span;
    for (const auto& group : open_) setting.group += (setting.group.empty() ? "" : ".") + group.setting.key;
    if (!value.empty()) return put(arguments_, std::move(setting));
    if (open_.size() >= max_setting_depth)
      refuse_at(arguments_.file.text.at(key_span.at, key_span.length), "too many groups inside each other",
                fmt::format("the maximum is {}", max_setting_depth));
    open_.push_back({first, std::move(setting)});
  }

  /// Reads '- item', of the list whose key is on the line above its first item. Tables in lists are left out.
  void read_item(const TextLine& line, std::size_t first) {
    const auto from = line.text.find_first_not_of(blanks_of_lines, first + 1);
    if (open_.empty() || from == std::string_view::npos)
      refuse_at(arguments_.file.text.at(line.offset + first, 1), "this item belongs to no list",
                "write the key of the list on a line above, as in 'cuda_graph_modules:'");
    open_.back().setting.entries.push_back(scalar(line, from, value_at(line, from)));
  }

  /// Puts the list whose items were read last.
  void finish() {
    if (open_.empty() || open_.back().setting.entries.empty()) return;
    auto setting = std::move(open_.back().setting);
    open_.pop_back();
    setting.kind = FileSetting::Kind::list;
    const auto& last = setting.entries.back().span;
    setting.span = {setting.entries.front().span.at, last.at + last.length - setting.entries.front().span.at};
    put(arguments_, std::move(setting));
  }

  static std::string_view value_at(const TextLine& line, std::size_t from) {
    auto value = line.text.substr(from);
    value = value.substr(0, value.starts_with('#') ? 0 : std::min(value.find(" #"), value.size()));
    return value.substr(0, value.find_last_not_of(blanks_of_lines) + 1);
  }

  static FileSetting scalar(const TextLine& line, std::size_t from, std::string_view value) {
    std::string word{value};
    if (word == "True" || word == "False") word.front() = word == "True" ? 't' : 'f';
    if (word.size() > 1 && (word.front() == '"' || word.front() == '\'') && word.back() == word.front())
      word = word.substr(1, word.size() - 2);
    auto setting = setting_of(std::move(word), {line.offset + from, value.size()});
    if (setting.text == "null" || setting.text == "None" || setting.text == "~")
      setting.kind = FileSetting::Kind::null;
    return setting;
  }

  /// Reads '[a, b]'.
  static FileSetting list(const TextLine& line, std::size_t from, std::string_view value) {
    FileSetting result;
    result.kind = FileSetting::Kind::list;
    result.text = value;
    result.span = {line.offset + from, value.size()};
    for (std::size_t start = 1; start < value.size();) {
      const auto end = std::min(value.find(',', start), value.size() - 1);
      const auto begin = std::min(value.find_first_not_of(blanks_of_lines, start), end);
      auto item = value.substr(begin, end - begin);
      item = item.substr(0, item.find_last_not_of(blanks_of_lines) + 1);
      if (!item.empty()) result.entries.push_back(scalar(line, from + begin, item));
      start = end + 1;
    }
    return result;
  }

  ArgumentSettings& arguments_;
  std::vector<Open> open_{};
};

}  // namespace

ArgumentSettings read_argument_settings(TextFile text) {
  if (const auto bad = first_bad_byte(text.content); bad != std::string_view::npos)
    refuse_at(text.at(bad, 1), "the file is not valid UTF-8", "save the file as UTF-8");
  ArgumentSettings arguments{{std::move(text), {}}, {}};
  const auto& file = arguments.file.text;
  if (file.name.ends_with(".yaml") || file.name.ends_with(".yml")) {
    YamlLines{arguments}.read();
  } else {
    ShellText{arguments}.read();
  }
  if (arguments.file.root.entries.empty())
    refuse_at(file.whole(), "the file has no arguments",
              "give a command line or a script with arguments such as --num-layers 24, or their YAML");
  return arguments;
}

}  // namespace gradway
