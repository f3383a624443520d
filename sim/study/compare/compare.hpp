// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/study/ask/ask.hpp"

namespace gradway {

/// None without a price.
std::optional<Expected> usd_per_step(const Answer& alternative);
std::optional<Expected> usd_per_million_samples(const Answer& alternative);

/// Indices in the order of cost per sample, those without a price last; then of throughput, then of position.
std::vector<std::size_t> by_cost(const std::vector<Answer>& alternatives);

/// The leaders by each figure. @param answers null: not ranked
Ranking ranking_of(const std::vector<const Answer*>& answers);
Ranking ranking_of(const std::vector<Answer>& answers);

/// Whether each alternative is Pareto-optimal by its expected figures: no other is at least as fast and at
/// least as cheap per sample, and better in one of the two. False without a price.
/// @return one value per alternative
std::vector<bool> pareto_front(const std::vector<Answer>& alternatives);

}  // namespace gradway
