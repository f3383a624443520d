// SPDX-License-Identifier: Apache-2.0
#include "sim/base/problem.hpp"

#include <algorithm>

#include <fmt/format.h>

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
  const auto tail = std::string(static_cast<std::size_t>(std::max(0, where.length - 1)), '~');
  return fmt::format("{} | {}\n      | {}^{}\n", number, where.text, indent, tail);
}

std::string join(const std::vector<Problem>& problems) {
  std::string all;
  for (const auto& problem : problems) all += to_text(problem);
  return all;
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
    : std::runtime_error{join(problems)},
      problems_{std::make_shared<const std::vector<Problem>>(std::move(problems))} {}

}  // namespace gradway
