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

void Problems::add(const Problems& added) {
  list_.insert(list_.end(), added.list_.begin(), added.list_.end());
  digests_.insert(digests_.end(), added.digests_.begin(), added.digests_.end());
  files_.insert(files_.end(), added.files_.begin(), added.files_.end());
  for (const auto& warning : added.warnings_) warn(warning);
}

void Problems::add_to_digest(std::string_view text) {
  digests_.emplace_back().add(text);
}

void Problems::warn(Warning warning) {
  if (std::ranges::find(warnings_, warning) == warnings_.end()) warnings_.push_back(std::move(warning));
}

Digest Problems::digest() const {
  Digest digest;
  for (const auto& text : digests_) digest.add(text);
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
    const auto hidden = sorted.size() - most_shown;
    sorted.resize(most_shown);
    sorted.push_back(Problem{{}, fmt::format("{} more problems", hidden), {}, "fix these first"});
  }
  throw ConfigError{std::move(sorted)};
}

std::string invalid_word(std::string_view thing, std::string_view word) {
  for (const std::string_view article : {"a ", "an "})
    if (thing.starts_with(article)) return fmt::format("invalid {} '{}'", thing.substr(article.size()), word);
  return fmt::format("invalid {} '{}'", thing, word);
}

void fail(const Where& where, std::string message, std::string hint) {
  fail(where, std::move(message), {}, std::move(hint));
}

void fail(const Where& where, std::string message, std::vector<Note> notes, std::string hint) {
  throw ConfigError{Problem{where, std::move(message), std::move(notes), std::move(hint)}};
}

}  // namespace gradway::config
