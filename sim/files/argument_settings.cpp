// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

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

  /// Expands $NAME, ${NAME}, ${NAME:-otherwise}, $((A * B)) and $(expr A / B) with two numbers or variables;
  /// everything else is kept as written.
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
    if (open == '(') {
      word.text += computed(written);
    } else if (inner.substr(mark).starts_with("[")) {
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

  /// The result of "$((A * B))" or "$(expr A / B)"; otherwise the text as it is written.
  std::string computed(std::string_view written) const {
    std::string inside{written};
    for (const std::string_view open : {"$((", "$(expr "})
      if (inside.starts_with(open)) inside.erase(0, open.size());
    if (inside.size() == written.size()) return inside;
    std::vector<std::string> terms{""};
    char sign = ' ';
    for (const char c : inside) {
      const bool is_sign = c == '*' || c == '/' || c == '+' || c == '-';
      if (is_sign && terms.size() > 1) return std::string{written};
      if (is_sign) {
        sign = c;
        terms.emplace_back();
      } else if (is_letter_of_name(c)) {
        terms.back() += c;
      }
    }
    if (terms.size() != 2) return std::string{written};
    const auto left = value_of(terms.front());
    const auto right = value_of(terms.back());
    if (!left || !right || (sign == '/' && *right == 0)) return std::string{written};
    return fmt::format("{}", sign == '*'   ? *left * *right
                             : sign == '/' ? *left / *right
                             : sign == '+' ? *left + *right
                                           : *left - *right);
  }

  /// The whole number that a word or its variable is, to nine digits.
  std::optional<std::int64_t> value_of(const std::string& word) const {
    const auto variable = variables_.find(word);
    const auto& digits = variable == variables_.end() ? word : variable->second;
    std::int64_t value = 0;
    const auto* end = digits.data() + digits.size();
    const auto [rest, error] = std::from_chars(digits.data(), end, value);
    if (error != std::errc{} || rest != end || digits.size() > 9) return std::nullopt;
    return value;
  }

  ArgumentSettings& arguments_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t end_;
  bool is_lookahead_ = false;
  std::map<std::string, std::string> variables_{};
};

/// Puts the values of YAML as arguments: those of groups with their group, lists with their items.
class YamlArguments {
 public:
  explicit YamlArguments(ArgumentSettings& arguments) : arguments_{arguments} {}

  void read() {
    const auto yaml = read_yaml_settings(arguments_.file.text);
    for (const auto& entry : yaml.root.entries) read(entry, "");
  }

 private:
  void read(const FileSetting& entry, const std::string& group) {
    auto setting = entry;
    setting.group = group;
    std::string_view name = entry.key;
    name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
    // "trainer.devices: 8" is 'devices' in the group 'trainer'.
    if (const auto dot = name.rfind('.'); dot != std::string_view::npos) {
      setting.group += (group.empty() ? "" : ".") + std::string{name.substr(0, dot)};
      name.remove_prefix(dot + 1);
    }
    setting.key = name;
    std::ranges::replace(setting.key, '-', '_');
    const bool is_table = entry.kind == FileSetting::Kind::table;
    if (is_table) {
      const auto inner = group.empty() ? setting.key : fmt::format("{}.{}", setting.group, setting.key);
      for (const auto& inside : entry.entries) read(inside, inner);
      return;
    }
    if (is_environment(setting.key)) return;
    if (entry.kind == FileSetting::Kind::list) {
      std::erase_if(setting.entries, [](const FileSetting& item) { return !item.entries.empty(); });
      std::vector<std::string> items;
      for (const auto& item : setting.entries) items.push_back(item.text);
      setting.text = fmt::format("[{}]", fmt::join(items, ", "));
    }
    put(arguments_, std::move(setting));
  }

  static bool is_environment(std::string_view key) {
    return std::ranges::any_of(key, [](char c) { return c >= 'A' && c <= 'Z'; }) &&
           std::ranges::none_of(key, [](char c) { return c >= 'a' && c <= 'z'; });
  }

  ArgumentSettings& arguments_;
};

}  // namespace

ArgumentSettings read_argument_settings(TextFile text) {
  text.check_encoding();
  ArgumentSettings arguments{{std::move(text), {}}, {}};
  const auto& file = arguments.file.text;
  if (file.name.ends_with(".yaml") || file.name.ends_with(".yml")) {
    YamlArguments{arguments}.read();
  } else {
    ShellText{arguments}.read();
  }
  if (arguments.file.root.entries.empty())
    refuse_at(file.whole(), "the file has no arguments",
              "give a command line or a script with arguments such as --num-layers 24, or their YAML");
  return arguments;
}

}  // namespace gradway
