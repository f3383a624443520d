// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/trust/step_ratio.hpp"

namespace gradway {

/// One of several alternatives, ranked by a figure that is proportional to its step time: the time or the
/// cost of a sample. Less is better.
struct Choice {
  double figure = 0;
  Seconds step{};
  std::vector<PossibleError> errors{};
  /// The figure by random seed, for campaigns. Empty if the figure does not depend on chance.
  std::vector<double> by_seed{};
};

/// Ratio of the figures of two choices, with its 90 % prediction interval.
Expected figure_ratio(const Choice& first, const Choice& second);

/// Whether two figures differ by less than 0.1 %, which is less than two runs of one step differ.
bool are_equal(const Choice& first, const Choice& second);

/// Whether two choices are equal, or 1 lies within the prediction interval of their ratio.
bool are_tied(const Choice& first, const Choice& second);

/// The best choice and all that are tied with it. Ties are made consistent in the order of figures: a choice
/// that is slower than an untied choice is not tied, a choice between two tied ones is tied, and choices with
/// the same figure have the same status.
struct Leaders {
  std::vector<std::size_t> which;  ///< the smallest figure first; empty if there are no choices
  double difference = 0;  ///< of the largest from the smallest of their figures, relative to the latter
  /// By choice: probability that the figure of the first is smaller. One half for the first and its equals;
  /// none for what cannot be chosen. It can be below 95 % for a choice that is not tied, if a tied choice, or
  /// one between them, is certainly better.
  std::vector<std::optional<double>> probability_first_leads;

  bool tied() const { return which.size() > 1; }
  /// The only leader; none if several are tied.
  std::optional<std::size_t> winner() const;
  bool has(std::size_t choice) const;
  /// The smallest probability that the first leads, over the choices that are not tied with it.
  double confidence() const;
};

/// The smallest figure and those that follow it, up to the first that one of the first 32 certainly beats.
/// @param choices nullopt where there is nothing to choose: jobs that do not fit, or without a price
Leaders leaders_of(const std::vector<std::optional<Choice>>& choices);

/// The leaders by each figure that sweeps and comparisons are ranked by.
struct Ranking {
  Leaders fastest;        ///< most samples per second
  Leaders cheapest;       ///< least cost per sample
  Leaders shortest_step;  ///< least step time
};

}  // namespace gradway
