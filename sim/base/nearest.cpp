// SPDX-License-Identifier: Apache-2.0
#include "sim/base/nearest.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gradway {
namespace {

// A shorter word starts too many others by chance.
constexpr std::size_t shortest_start = 3;

/// Insertions, deletions, replacements and swaps of two neighbours that turn one word into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before;  // the row of a's prefix shorter by two
  std::vector<std::size_t> above;   // ... by one
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    before = std::move(above);
    above = row;
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({above[j] + (a[i] == b[j] ? 0 : 1), row[j] + 1, above[j + 1] + 1});
      const bool swapped = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
      if (swapped) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view name, const std::vector<std::string>& candidates) {
  std::string best;
  auto best_distance = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const auto& candidate : candidates) {
    const auto [shorter, longer] = std::minmax({name.size(), candidate.size()});
    if (longer - shorter >= best_distance) continue;  // so many letters differ at least
    const auto distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  if (!best.empty() || name.size() < shortest_start) return best;
  const auto starts = [&](const std::string& candidate) { return candidate.starts_with(name); };
  const auto longer = std::ranges::find_if(candidates, starts);
  return longer == candidates.end() ? "" : *longer;
}

std::string suggestion(std::string_view name, const std::vector<std::string>& candidates) {
  if (const auto near = nearest(name, candidates); !near.empty())
    return fmt::format("did you mean '{}'?", near);
  if (candidates.empty()) return "";
  return fmt::format("known: {}", fmt::join(candidates, ", "));
}

}  // namespace gradway
