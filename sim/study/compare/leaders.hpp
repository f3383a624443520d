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
  /// The figure of runs that only luck tells apart, seed by seed; empty: there is no luck.
  std::vector<double> by_seed{};
};

/// The figure of one over that of the other, in nine of ten cases.
Expected figure_ratio(const Choice& one, const Choice& other);

/// Whether two have the same figure for all that anybody can tell: they differ by less than 0.1 %, which is
/// less than two runs of one step do.
bool are_equal(const Choice& one, const Choice& other);

/// Whether the two are equal, or their difference is within what is not known.
bool are_tied(const Choice& one, const Choice& other);

/// Who comes first. A tie is a statement about two choices; down the order of their figures it is made
/// consistent: nothing that is slower than an untied choice is tied, so that whatever lies between two that
/// are tied is tied, too, and choices of the same figure are marked alike.
struct Leaders {
  std::vector<std::size_t> which;  ///< the least figure first; empty if there is nothing to choose
  double difference = 0;           ///< of the largest of their figures from the least, as a fraction of it
  /// By choice, of those that can be chosen: probability that the first one's figure is the smaller. One half
  /// for the first and its equals. A choice that is not tied can have a probability below 95 %, if one that
  /// is tied beats it for sure, or beats one that is ahead of it.
  std::vector<std::optional<double>> probability_first_leads;

  bool tied() const { return which.size() > 1; }
  /// The one that is ahead of all others.
  std::optional<std::size_t> winner() const;
  bool has(std::size_t choice) const;
  /// The least of the probabilities that the first is ahead, of the choices that are not tied with it.
  double confidence() const;
};

/// The least figure, and what follows it, until one comes that one of the first 32 beats for sure.
/// @param choices without those that cannot be chosen (nullopt): jobs that do not fit, without a price
Leaders leaders_of(const std::vector<std::optional<Choice>>& choices);

/// Who comes first in what sweeps and comparisons are ranked by.
struct Ranking {
  Leaders fastest;        ///< most samples a second
  Leaders cheapest;       ///< least cost of a sample
  Leaders shortest_step;  ///< least time of a step
};

}  // namespace gradway
