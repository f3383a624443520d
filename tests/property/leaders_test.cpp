// SPDX-License-Identifier: Apache-2.0
// Marks of a ranking are consistent down its order, whatever the pairwise ties are.
#include <algorithm>
#include <cmath>

#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>

#include "sim/study/compare/leaders.hpp"

using namespace gradway;

namespace {

/// A choice of few possible figures, so that some are equal, with errors of few causes, so that some are
/// shared and ties of pairs are not transitive.
Choice any_choice() {
  const Seconds step{*rc::gen::inRange(90, 130) / 1e3};
  Choice made{.figure = step.value() * *rc::gen::element(1.0, 1.0, 1.1), .step = step};
  const auto count = *rc::gen::inRange(0, 4);
  for (int i = 0; i < count; ++i) {
    made.errors.push_back({.cause = {PartOfStep::compute, std::string(1, *rc::gen::inRange('a', 'e'))},
                           .time = step * (*rc::gen::inRange(0, 100) / 100.0),
                           .uncertainty = *rc::gen::inRange(0, 60) / 100.0});
  }
  return made;
}

}  // namespace

TEST_CASE("marks of a ranking are consistent with its order", "[property][leaders]") {
  rc::prop("made-up choices in any order", [] {
    std::vector<std::optional<Choice>> choices;
    const auto count = *rc::gen::inRange(0, 12);
    for (int i = 0; i < count; ++i) {
      const bool can_be_chosen = *rc::gen::inRange(0, 10) > 0;
      choices.push_back(can_be_chosen ? std::optional{any_choice()} : std::nullopt);
    }
    const auto leaders = leaders_of(choices);
    const auto is_marked = [&](std::size_t i) { return leaders.has(i); };
    for (std::size_t i = 0; i < choices.size(); ++i) {
      if (!choices[i]) {
        RC_ASSERT(!is_marked(i));
        continue;
      }
      for (std::size_t k = 0; k < choices.size(); ++k) {
        if (!choices[k]) continue;
        // Nothing that is slower than an unmarked choice is marked: so marks are without gaps, too.
        if (choices[i]->figure < choices[k]->figure && !is_marked(i)) RC_ASSERT(!is_marked(k));
        // Equal choices are marked alike.
        if (choices[i]->figure == choices[k]->figure) RC_ASSERT(is_marked(i) == is_marked(k));
      }
    }
    const auto any = std::ranges::any_of(choices, [](const auto& one) { return one.has_value(); });
    RC_ASSERT(leaders.which.empty() == !any);
    RC_ASSERT(leaders.probability_first_leads.size() == choices.size());
    for (std::size_t i = 0; i < choices.size(); ++i) {
      const auto& probability = leaders.probability_first_leads[i];
      RC_ASSERT(probability.has_value() == choices[i].has_value());
      if (!probability) continue;
      RC_ASSERT(0.5 <= *probability);
      RC_ASSERT(*probability <= 1);
    }
    if (leaders.which.empty()) return;
    // Marked choices are tied with the first; the first unmarked one is certainly slower than a marked one.
    std::optional<std::size_t> next;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      if (!choices[i]) continue;
      if (!is_marked(i) && (!next || choices[i]->figure < choices[*next]->figure)) next = i;
    }
    const auto beats = [&](std::size_t one) { return !are_tied(*choices[one], *choices[*next]); };
    if (next) RC_ASSERT(std::ranges::any_of(leaders.which, beats));
  });
}
