// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/run/simulate.hpp"
#include "sim/study/compare/leaders.hpp"
#include "sim/trust/provenance_class.hpp"

namespace gradway {

/// A scenario on one platform with one number of GPUs: what a buyer wants to know.
struct Alternative {
  std::string platform;
  int gpus = 0;
  int nodes = 1;  ///< that the job's GPUs are on
  Metrics metrics;
  TimeRange range;
  Bottleneck bottleneck;
  ProvenanceClass provenance = ProvenanceClass::measured;
  std::vector<PossibleError> errors{};  ///< of the step's time
  std::optional<Price> price{};         ///< of a node; none if it is not known
};

/// Nodes that the first so many GPUs of a platform are on.
int nodes_of(const Platform& platform, int gpus);

Alternative alternative_of(const Run& run);

/// None without a price.
std::optional<Expected> usd_per_step(const Alternative& alternative);
std::optional<Expected> usd_per_million_samples(const Alternative& alternative);

/// Positions in the order of cost for a million samples, those without a price last, then of throughput, then
/// as they stand.
std::vector<std::size_t> by_cost(const std::vector<Alternative>& alternatives);

/// Who has the most samples a second, and the least cost for one.
Leaders fastest(const std::vector<Alternative>& alternatives);
Leaders cheapest(const std::vector<Alternative>& alternatives);
/// Who has the least time of a step, however many samples it trains on.
Leaders shortest_step(const std::vector<Alternative>& alternatives);

/// Which of them no other beats, by the predicted figures: there is none that is both at least as fast and at
/// least as cheap for a sample, and better in one of the two. Those without a price are not among them.
/// @return beside them
std::vector<bool> pareto_front(const std::vector<Alternative>& alternatives);

}  // namespace gradway
