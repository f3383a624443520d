// SPDX-License-Identifier: Apache-2.0
#include "sim/base/nearest.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gradway {
namespace {

// Shorter words are prefixes or parts of too many names by chance.
constexpr std::size_t shortest_start = 3;
constexpr std::size_t shortest_part = 2;
constexpr std::size_t most_near_names = 4;
constexpr std::size_t most_listed_names = 12;
constexpr std::size_t listed_of_more = 5;
constexpr std::size_t longest_sorted = 200;

/// Number of insertions, deletions, replacements and swaps of adjacent letters that turn `a` into `b`
/// (optimal string alignment distance).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before;  // the row of the prefix of `a` that is two letters shorter
  std::vector<std::size_t> above;   // the row of the prefix that is one letter shorter
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

/// In lower case, with '-' for spaces and '_'.
std::string plain(std::string_view text) {
  std::string result{text};
  std::ranges::transform(result, result.begin(), [](unsigned char c) {
    return c == ' ' || c == '_' ? '-' : static_cast<char>(std::tolower(c));
  });
  return result;
}

bool is_letter_or_digit(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

/// Whether a name contains the other one as a whole part, as "aws-p5.48xlarge" contains "p5".
bool has_part(const std::string& candidate, const std::string& part) {
  for (auto start = candidate.find(part); start != std::string::npos;
       start = candidate.find(part, start + 1)) {
    const auto end = start + part.size();
    if ((start == 0 || !is_letter_or_digit(candidate[start - 1])) &&
        (end == candidate.size() || !is_letter_or_digit(candidate[end])))
      return true;
  }
  return false;
}

/// The candidates that satisfy `is_meant`, shortest first, at most `most_near_names`.
template <class IsMeant>
std::vector<std::string> shortest_of(const std::vector<std::string>& candidates, const IsMeant& is_meant) {
  std::vector<std::string> matches;
  std::ranges::copy_if(candidates, std::back_inserter(matches), is_meant);
  std::ranges::stable_sort(matches, {}, &std::string::size);
  if (matches.size() > most_near_names) matches.resize(most_near_names);
  return matches;
}

std::string fewest_edits(const std::string& name, const std::vector<std::string>& candidates) {
  std::string best;
  auto best_distance = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const auto& candidate : candidates) {
    const auto [shorter, longer] = std::minmax({name.size(), candidate.size()});
    if (longer - shorter >= best_distance) continue;  // a lower bound of the distance
    const auto distance = edit_distance(name, plain(candidate));
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace

std::vector<std::string> near_names(std::string_view name, const std::vector<std::string>& candidates) {
  const auto asked = plain(name);
  std::vector<std::string> matches;
  if (name.size() >= shortest_part)
    matches = shortest_of(candidates, [&](const auto& known) { return has_part(plain(known), asked); });
  if (matches.empty() && name.size() >= shortest_start)
    matches = shortest_of(candidates, [&](const auto& known) { return plain(known).starts_with(asked); });
  if (!matches.empty()) return matches;
  if (auto best = fewest_edits(asked, candidates); !best.empty()) return {std::move(best)};
  return {};
}

std::string nearest(std::string_view name, const std::vector<std::string>& candidates) {
  auto near = near_names(name, candidates);
  return near.empty() ? "" : std::move(near.front());
}

std::string suggestion(std::string_view name, const std::vector<std::string>& candidates) {
  const auto near = near_names(name, candidates);
  if (near.size() == 1) return fmt::format("did you mean '{}'?", near.front());
  if (!near.empty())
    return fmt::format("did you mean '{}' or '{}'?", fmt::join(near.begin(), near.end() - 1, "', '"),
                       near.back());
  if (candidates.empty()) return "";
  if (candidates.size() <= most_listed_names) return fmt::format("known: {}", fmt::join(candidates, ", "));
  // The order of names that are all far away does not need the rest of a text that no name is as long as.
  const auto start = name.substr(0, longest_sorted);
  std::vector<std::tuple<std::size_t, std::size_t, std::size_t>> order;  // distance, length and place
  for (std::size_t i = 0; i < candidates.size(); ++i)
    order.emplace_back(edit_distance(start, candidates[i]), candidates[i].size(), i);
  std::ranges::sort(order);
  std::vector<std::string> nearest_first;
  for (std::size_t i = 0; i < listed_of_more; ++i) nearest_first.push_back(candidates[std::get<2>(order[i])]);
  return fmt::format("known: {} and {} more", fmt::join(nearest_first, ", "),
                     candidates.size() - listed_of_more);
}

std::string suggestion_of_keys(std::string_view key, const std::vector<std::string>& known) {
  return near_names(key, known).empty() ? fmt::format("known: {}", fmt::join(known, ", "))
                                        : suggestion(key, known);
}

}  // namespace gradway
