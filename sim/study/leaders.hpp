// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/trust/step_ratio.hpp"

namespace gradway {

/// One of several things to choose from, by a figure that grows with the time of its step: the time or the
/// cost of a sample.
struct Choice {
  double figure = 0;
  Seconds step{};
  std::vector<PossibleError> errors{};
};

/// How many times the other's the figure of one is, in nine of ten cases.
Expected figure_ratio(const Choice& one, const Choice& other);

/// Is the difference of two within what is not known?
bool are_level(const Choice& one, const Choice& other);

/// Who comes first: the choice with the least figure, and those that none of the first 32 leaders beats for
/// sure.
struct Leaders {
  std::vector<std::size_t> which;  ///< the least figure first; empty if there is nothing to choose
  double difference = 0;           ///< of the largest of their figures from the least, as a fraction of it

  bool level() const { return which.size() > 1; }
  /// The one that is ahead of all others.
  std::optional<std::size_t> winner() const;
  bool has(std::size_t choice) const;
};

/// @param choices without those that cannot be chosen (nullopt): jobs that do not fit, without a price
Leaders leaders_of(const std::vector<std::optional<Choice>>& choices);

/// Who comes first in what sweeps and comparisons are ranked by.
struct Ranking {
  Leaders fastest;        ///< most samples a second
  Leaders cheapest;       ///< least cost of a sample
  Leaders shortest_step;  ///< least time of a step
};

}  // namespace gradway
