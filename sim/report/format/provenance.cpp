// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/provenance.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace gradway::report {
namespace {

/// What a clause is about, and what it says of it.
struct Clause {
  std::string about;
  std::string says;
};

Clause first_clause(std::string_view line) {
  constexpr std::string_view colon = ": ";
  const auto at = line.find(colon);
  const auto start = at == std::string_view::npos ? 0 : at + colon.size();
  auto end = line.size();
  for (const std::string_view stop : std::array<std::string_view, 3>{" (", "; ", ". "})
    end = std::min(end, line.find(stop, start));
  return {std::string{line.substr(0, at == std::string_view::npos ? 0 : at)},
          std::string{line.substr(start, end - start)}};
}

}  // namespace

std::vector<std::string> provenance_in_short(const std::vector<std::string>& basis) {
  std::vector<Clause> clauses;
  for (const auto& line : basis) {
    if (line.starts_with("platform ")) continue;
    auto clause = first_clause(line);
    const auto same = std::ranges::find(clauses, clause.says, &Clause::says);
    if (same == clauses.end()) {
      clauses.push_back(std::move(clause));
    } else if (!clause.about.empty() && same->about != clause.about) {
      same->about += ", " + clause.about;
    }
  }
  std::vector<std::string> lines;
  for (const auto& [about, says] : clauses)
    lines.push_back(about.empty() ? says : fmt::format("{}: {}", about, says));
  return lines;
}

}  // namespace gradway::report
