// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/study/compare/answer.hpp"
#include "sim/trust/provenance_class.hpp"

namespace gradway {

/// The result of a scenario on one platform with one number of GPUs.
struct Alternative : Answer {
  std::string platform{};
  int gpus = 0;
  int nodes = 1;  ///< that hold the job's GPUs
  Bottleneck bottleneck{};
  ProvenanceClass provenance = ProvenanceClass::measured;
  std::optional<Price> price{};  ///< of a node
};

/// Number of nodes that hold the first `gpus` GPUs of a platform.
int nodes_of(const Platform& platform, int gpus);

Alternative alternative_of(const Run& run);

/// None without a price.
std::optional<Expected> usd_per_step(const Alternative& alternative);
std::optional<Expected> usd_per_million_samples(const Alternative& alternative);

/// Indices in the order of cost per sample, those without a price last; then of throughput, then of position.
std::vector<std::size_t> by_cost(const std::vector<Alternative>& alternatives);

/// Leaders by samples per second, and by cost per sample.
Leaders fastest(const std::vector<Alternative>& alternatives);
Leaders cheapest(const std::vector<Alternative>& alternatives);
/// Leaders by step time, whatever the batch.
Leaders shortest_step(const std::vector<Alternative>& alternatives);

/// Whether each alternative is Pareto-optimal by its expected figures: no other is at least as fast and at
/// least as cheap per sample, and better in one of the two. False without a price.
/// @return one value per alternative
std::vector<bool> pareto_front(const std::vector<Alternative>& alternatives);

}  // namespace gradway
