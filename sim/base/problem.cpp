// SPDX-License-Identifier: Apache-2.0
#include "sim/base/problem.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/printable.hpp"

namespace gradway {
namespace {

std::string place(const Where& where) {
  if (where.line == 0) return where.file;
  return fmt::format("{}:{}:{}", where.file, where.line, where.column);
}

std::string picture(const Where& where) {
  if (where.text.empty() || where.line == 0) return "";
  const auto number = fmt::format("{:>5}", where.line);
  std::string indent;
  for (int i = 0; i + 1 < where.column && i < static_cast<int>(where.text.size()); ++i) {
    indent += where.text[static_cast<std::size_t>(i)] == '\t' ? '\t' : ' ';
  }
  const auto longest_tail = static_cast<int>(where.text.size());
  const auto tail = std::string(static_cast<std::size_t>(std::clamp(where.length - 1, 0, longest_tail)), '~');
  return fmt::format("{} | {}\n      | {}^{}\n", number, where.text, indent, tail);
}

// Limits for quoted values, which may have megabytes. Texts of gradway itself are far shorter.
constexpr std::size_t longest_name = 4096;  // PATH_MAX
constexpr std::size_t longest_text = 800;
constexpr std::size_t longest_hint = 4000;  // may list all known names

void make_fit(Where& where) {
  where.file = printable(shortened(where.file, longest_name));
  where.text = shown_line(where.text);
}

/// Shortens and escapes all texts of the problems, since quoted names and values can hold anything.
std::vector<Problem> fit_to_show(std::vector<Problem> problems) {
  for (auto& problem : problems) {
    make_fit(problem.where);
    problem.what = printable(shortened(problem.what, longest_text));
    problem.hint = printable(shortened(problem.hint, longest_hint));
    for (auto& note : problem.notes) {
      make_fit(note.where);
      note.what = printable(shortened(note.what, longest_text));
    }
  }
  return problems;
}

std::string join(const std::vector<Problem>& problems) {
  std::string text;
  for (const auto& problem : problems) text += to_text(problem);
  return text;
}

}  // namespace

std::string to_text(const Problem& problem) {
  auto text = problem.where.file.empty() ? fmt::format("error: {}\n", problem.what)
                                         : fmt::format("{}: error: {}\n", place(problem.where), problem.what);
  text += picture(problem.where);
  for (const auto& note : problem.notes)
    text += fmt::format("  note: {}: {}\n", place(note.where), note.what);
  if (!problem.hint.empty()) text += fmt::format("  hint: {}\n", problem.hint);
  return text;
}

ConfigError::ConfigError(std::vector<Problem> problems)
    : ConfigError{std::make_shared<const std::vector<Problem>>(fit_to_show(std::move(problems)))} {}

ConfigError::ConfigError(std::shared_ptr<const std::vector<Problem>> problems)
    : std::runtime_error{join(*problems)}, problems_{std::move(problems)} {}

void refuse_at(Where where, std::string problem, std::string hint) {
  throw ConfigError{Problem{std::move(where), std::move(problem), {}, std::move(hint)}};
}

void refuse(std::string problem, std::string hint) {
  refuse_at({}, std::move(problem), std::move(hint));
}

}  // namespace gradway
