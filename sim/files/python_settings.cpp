// SPDX-License-Identifier: Apache-2.0
// Settings that a Python function returns as nested calls, such as those of torchtitan's config_registry.py.
// Nothing is executed: literals, calls with literals, lists, names of local variables and of functions of the
// file are read.
#include <algorithm>
#include <cctype>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/nearest.hpp"
#include "sim/files/settings_file.hpp"

namespace gradway {
namespace {

/// Reads Python's expressions and the statements of functions, as far as settings need them.
class PythonText {
 public:
  explicit PythonText(const TextFile& file) : file_{file}, text_{file.content} {
    for (const auto& line : lines_of(text_)) {
      constexpr std::string_view start = "def ";
      if (!line.text.starts_with(start)) continue;
      const auto name = line.text.substr(start.size(), line.text.find('(') - start.size());
      functions_.emplace_back(std::string{name}, line.offset);
    }
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, offset] : functions_) names.push_back(name);
    return names;
  }

  /// What the function returns; nothing if it is unknown.
  FileSetting value_of(std::string_view name, int depth = 0) {
    const auto function = std::ranges::find(functions_, name, [](const auto& entry) { return entry.first; });
    if (function == functions_.end() || depth > max_setting_depth) return {};
    const auto next = function + 1;
    const auto end = next == functions_.end() ? text_.size() : next->second;
    std::map<std::string, FileSetting> variables;
    return run(function->second, end, "    ", variables, depth);
  }

  /// The variables of the module.
  FileSetting variables() {
    std::map<std::string, FileSetting> variables;
    run(0, text_.size(), "", variables, 0);
    FileSetting table;
    for (auto& [name, value] : variables) {
      value.key = name;
      table.entries.push_back(std::move(value));
    }
    return table;
  }

 private:
  /// Reads the statements with an indent; deeper ones are branches, which are left out. @return what is
  /// returned
  FileSetting run(std::size_t begin, std::size_t end, std::string_view indent,
                  std::map<std::string, FileSetting>& variables, int depth) {
    for (const auto& line : lines_of(text_.substr(begin, end - begin))) {
      if (!line.text.starts_with(indent) || line.text.substr(indent.size()).starts_with(' ')) continue;
      auto position = begin + line.offset + indent.size();
      constexpr std::string_view returned = "return ";
      if (text_.substr(position).starts_with(returned)) {
        position += returned.size();
        return expression(position, variables, depth);
      }
      const auto target = dotted_name(position);
      if (target.empty()) continue;
      skip_blanks(position);
      if (position >= text_.size() || text_[position] != '=' || text_.substr(position).starts_with("=="))
        continue;
      ++position;
      assign(variables, target, expression(position, variables, depth));
    }
    return {};
  }

  static bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

  void skip_blanks(std::size_t& position) const {
    while (position < text_.size()) {
      if (text_[position] == '#') {
        position = std::min(text_.find('\n', position), text_.size());
      } else if (std::isspace(static_cast<unsigned char>(text_[position])) != 0 || text_[position] == '\\') {
        ++position;
      } else {
        return;
      }
    }
  }

  std::string dotted_name(std::size_t& position) const {
    const auto start = position;
    while (position < text_.size() &&
           (is_letter(text_[position]) || (text_[position] == '.' && position > start)))
      ++position;
    return std::string{text_.substr(start, position - start)};
  }

  static FileSetting& entry_of(FileSetting& table, std::string_view key) {
    const auto entry = std::ranges::find(table.entries, key, &FileSetting::key);
    if (entry != table.entries.end()) return *entry;
    table.entries.push_back({.kind = FileSetting::Kind::table, .key = std::string{key}, .text = {}});
    return table.entries.back();
  }

  static void assign(std::map<std::string, FileSetting>& variables, std::string_view target,
                     FileSetting value) {
    auto dot = std::min(target.find('.'), target.size());
    auto* setting = &variables[std::string{target.substr(0, dot)}];
    while (dot < target.size()) {
      target.remove_prefix(dot + 1);
      dot = std::min(target.find('.'), target.size());
      setting = &entry_of(*setting, target.substr(0, dot));
    }
    value.key = setting->key;
    value.key_span = value.span;
    *setting = std::move(value);
  }

  FileSetting scalar(FileSetting::Kind kind, std::string text, std::size_t start, std::size_t end) const {
    return {
        .kind = kind, .key = {}, .text = std::move(text), .span = {start, std::max(end, start + 1) - start}};
  }

  FileSetting expression(std::size_t& position, const std::map<std::string, FileSetting>& variables,
                         int depth) {
    skip_blanks(position);
    const auto start = position;
    auto value = operand(position, variables, depth);
    skip_blanks(position);
    const bool is_whole = position >= text_.size() ||
                          std::string_view{",)]}:\n"}.find(text_[position]) != std::string_view::npos ||
                          depth_ == 0;
    if (is_whole) return value;
    // Arithmetic and conditions: a text, which no number is taken from.
    skip_to_end(position);
    return scalar(FileSetting::Kind::text, std::string{text_.substr(start, position - start)}, start,
                  position);
  }

  FileSetting operand(std::size_t& position, const std::map<std::string, FileSetting>& variables, int depth) {
    const auto start = position;
    const char first = position < text_.size() ? text_[position] : ' ';
    if (first == '"' || first == '\'') {
      const auto end = std::min(text_.find(first, position + 1), text_.size());
      position = std::min(end + 1, text_.size());
      return scalar(FileSetting::Kind::text, std::string{text_.substr(start + 1, end - start - 1)}, start,
                    position);
    }
    if (first == '[' || first == '(' || first == '{') {
      FileSetting list;
      list.kind = FileSetting::Kind::list;
      list.span = {start, 1};
      list.entries = arguments(position, variables, depth);
      return list;
    }
    if (std::isdigit(static_cast<unsigned char>(first)) != 0 || first == '-') {
      position = std::min(text_.find_first_not_of("0123456789.eE_-+", position), text_.size());
      auto number = std::string{text_.substr(start, position - start)};
      std::erase(number, '_');
      return scalar(FileSetting::Kind::number, std::move(number), start, position);
    }
    const auto name = dotted_name(position);
    if (name.empty()) ++position;
    if (name == "True" || name == "False")
      return scalar(FileSetting::Kind::boolean, name == "True" ? "true" : "false", start, position);
    if (name == "None") return scalar(FileSetting::Kind::null, "null", start, position);
    if (position >= text_.size() || text_[position] != '(') {
      const auto known = variables.find(name);
      return known == variables.end() ? scalar(FileSetting::Kind::text, name, start, position)
                                      : known->second;
    }
    FileSetting call;
    call.span = {start, position - start};
    call.entries = arguments(position, variables, depth);
    if (call.entries.empty() && std::ranges::count(names(), name) > 0) return value_of(name, depth + 1);
    call.text = name;
    return call;
  }

  /// Reads what is between brackets. Values without a name have no key.
  std::vector<FileSetting> arguments(std::size_t& position,
                                     const std::map<std::string, FileSetting>& variables, int depth) {
    if (++depth_ > max_setting_depth)
      refuse_at(file_.at(position, 1),
                fmt::format("calls are nested deeper than {} levels", max_setting_depth), "");
    std::vector<FileSetting> values;
    ++position;
    while (position < text_.size()) {
      skip_blanks(position);
      if (position >= text_.size() || text_[position] == ')' || text_[position] == ']' ||
          text_[position] == '}')
        break;
      if (text_[position] == ',') {
        ++position;
        continue;
      }
      const auto start = position;
      auto key = dotted_name(position);
      auto after = position;
      skip_blanks(after);
      const bool is_named = !key.empty() && after < text_.size() && text_[after] == '=' &&
                            !text_.substr(after).starts_with("==");
      position = is_named ? after + 1 : start;
      auto value = expression(position, variables, depth);
      if (is_named) {
        value.key = std::move(key);
        value.key_span = {start, value.key.size()};
      }
      values.push_back(std::move(value));
      if (position == start) ++position;  // what is no expression
    }
    position = std::min(position + 1, text_.size());
    --depth_;
    return values;
  }

  /// To the end of an argument.
  void skip_to_end(std::size_t& position) const {
    for (int depth = 0; position < text_.size(); ++position) {
      const char c = text_[position];
      if (depth == 0 && (c == ',' || c == ')' || c == ']' || c == '}')) return;
      if (c == '(' || c == '[' || c == '{') ++depth;
      if (c == ')' || c == ']' || c == '}') --depth;
    }
  }

  const TextFile& file_;
  std::string_view text_;
  std::vector<std::pair<std::string, std::size_t>> functions_{};
  int depth_ = 0;
};

}  // namespace

SettingsFile read_python_variables(TextFile text) {
  SettingsFile file{std::move(text), {}};
  file.root = PythonText{file.text}.variables();
  if (file.root.entries.empty())
    refuse_at(file.text.whole(), "the file has no settings", "expected lines such as 'batch_size = 1'");
  return file;
}

SettingsFile read_python_function(TextFile text, const std::string& function) {
  SettingsFile file{std::move(text), {}};
  PythonText python{file.text};
  const auto names = python.names();
  auto chosen = function;
  if (chosen.empty() && names.size() == 1) chosen = names.front();
  if (std::ranges::find(names, chosen) == names.end())
    refuse_at(file.text.whole(),
              chosen.empty() ? "the file has several configurations"
                             : fmt::format("the file has no function '{}'", chosen),
              chosen.empty() ? fmt::format("name one with --config: {}", fmt::join(names, ", "))
                             : suggestion(chosen, names));
  file.root = python.value_of(chosen);
  if (file.root.entries.empty())
    refuse_at(file.text.whole(), fmt::format("'{}' does not return a configuration", chosen),
              "expected 'return Trainer.Config(...)', with calls and literals as arguments");
  file.root.key = chosen;
  return file;
}

}  // namespace gradway
