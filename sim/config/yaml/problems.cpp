// SPDX-License-Identifier: Apache-2.0
#include "sim/config/yaml/problems.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace gradway::config {
namespace {

constexpr std::size_t most_shown = 100;

}  // namespace

void Problems::add(const ConfigError& error) {
  list_.insert(list_.end(), error.problems().begin(), error.problems().end());
}

void Problems::add(const Problems& others) {
  list_.insert(list_.end(), others.list_.begin(), others.list_.end());
  seen_.insert(seen_.end(), others.seen_.begin(), others.seen_.end());
  files_.insert(files_.end(), others.files_.begin(), others.files_.end());
  for (const auto& warning : others.warnings_) warn(warning);
}

void Problems::saw(std::string_view text) {
  seen_.emplace_back().add(text);
}

void Problems::warn(ScenarioWarning warning) {
  if (std::ranges::find(warnings_, warning) == warnings_.end()) warnings_.push_back(std::move(warning));
}

Digest Problems::seen() const {
  Digest digest;
  for (const auto& text : seen_) digest.add(text);
  return digest;
}

void Problems::raise() const {
  if (list_.empty()) return;
  std::map<std::string, std::size_t> rank;
  for (const auto& problem : list_) rank.emplace(problem.where.file, rank.size());
  auto sorted = list_;
  std::ranges::stable_sort(sorted, {}, [&rank](const Problem& problem) {
    return std::tuple{rank.at(problem.where.file), problem.where.line, problem.where.column};
  });
  const auto same = [](const Problem& a, const Problem& b) { return a.where == b.where && a.what == b.what; };
  const auto repeated = std::ranges::unique(sorted, same);
  sorted.erase(repeated.begin(), repeated.end());
  if (sorted.size() > most_shown) {
    const auto more = sorted.size() - most_shown;
    sorted.resize(most_shown);
    sorted.push_back(
        Problem{{}, fmt::format("{} more problems", more), {}, "mend the first ones and try again"});
  }
  throw ConfigError{std::move(sorted)};
}

void fail(const Where& where, std::string what, std::string hint) {
  fail(where, std::move(what), {}, std::move(hint));
}

void fail(const Where& where, std::string what, std::vector<Note> notes, std::string hint) {
  throw ConfigError{Problem{where, std::move(what), std::move(notes), std::move(hint)}};
}

}  // namespace gradway::config
