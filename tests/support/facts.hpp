// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <variant>
#include <vector>

namespace gradway::test {

/// The first warning, or fact of a provenance, of this type; null if there is none.
template <class Fact, class... All>
const Fact* find_fact(const std::vector<std::variant<All...>>& all) {
  for (const auto& one : all)
    if (const auto* fact = std::get_if<Fact>(&one)) return fact;
  return nullptr;
}

/// Whether one is equal to this.
template <class Fact, class... All>
bool has_fact(const std::vector<std::variant<All...>>& all, const Fact& fact) {
  return std::ranges::find(all, std::variant<All...>{fact}) != all.end();
}

template <class Fact, class... All>
std::vector<Fact> facts_of(const std::vector<std::variant<All...>>& all) {
  std::vector<Fact> found;
  for (const auto& one : all)
    if (const auto* fact = std::get_if<Fact>(&one)) found.push_back(*fact);
  return found;
}

}  // namespace gradway::test
