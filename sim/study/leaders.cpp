// SPDX-License-Identifier: Apache-2.0
#include "sim/study/leaders.hpp"

#include <algorithm>

namespace gradway {
namespace {

/// Leaders that a choice is held against: in a sweep of thousands of level points all pairs would take
/// minutes.
constexpr std::size_t most_asked = 32;

}  // namespace

Expected figure_ratio(const Choice& one, const Choice& other) {
  const auto steps = step_ratio(one.step, one.errors, other.step, other.errors);
  const auto value = one.figure == other.figure ? 1 : one.figure / other.figure;
  return {value, value * (steps.low / steps.value), value * (steps.high / steps.value)};
}

bool are_level(const Choice& one, const Choice& other) {
  if (one.figure == other.figure) return true;
  const auto ratio = figure_ratio(one, other);
  return ratio.low <= 1 && 1 <= ratio.high;
}

std::optional<std::size_t> Leaders::winner() const {
  return which.size() == 1 ? std::optional{which.front()} : std::nullopt;
}

bool Leaders::has(std::size_t choice) const {
  return std::ranges::find(which, choice) != which.end();
}

Leaders leaders_of(const std::vector<std::optional<Choice>>& choices) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (choices[i]) order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return choices[i]->figure; });
  Leaders leaders;
  // In the order of their figures: who is beaten for sure is beaten by one that stands before.
  const auto is_beaten = [&](std::size_t i) {
    const auto end =
        leaders.which.begin() + static_cast<std::ptrdiff_t>(std::min(leaders.which.size(), most_asked));
    return std::any_of(leaders.which.begin(), end,
                       [&](std::size_t one) { return !are_level(*choices[one], *choices[i]); });
  };
  for (const auto i : order) {
    if (!is_beaten(i)) leaders.which.push_back(i);
  }
  if (leaders.level())
    leaders.difference = choices[leaders.which.back()]->figure / choices[leaders.which.front()]->figure - 1;
  return leaders;
}

}  // namespace gradway
