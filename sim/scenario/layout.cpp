// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/layout.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gradway {
namespace {

double busiest_over_mean(const std::vector<double>& rows) {
  const auto sum = std::accumulate(rows.begin(), rows.end(), 0.0);
  return std::ranges::max(rows) / sum * static_cast<double>(rows.size());
}

/// Rows by rank that follow Zipf's law; popular experts are dealt to the ranks in turn.
std::vector<double> skewed_rows(double skew, int experts, int ranks) {
  std::vector<double> rows(static_cast<std::size_t>(ranks), 0);
  for (int expert = 0; expert < experts; ++expert)
    rows[static_cast<std::size_t>(expert % ranks)] += std::pow(expert + 1, -skew);
  return rows;
}

/// Rows by rank. @source Megatron-Core, transformer/moe/moe_layer.py (local_expert_indices), and torchtitan,
/// distributed/expert_parallel.py (Shard(0)): a rank holds consecutive experts
std::vector<double> rows_by_rank(const std::vector<double>& of_experts, int ranks) {
  std::vector<double> rows(static_cast<std::size_t>(ranks), 0);
  for (std::size_t expert = 0; expert < of_experts.size(); ++expert)
    rows[expert * rows.size() / of_experts.size()] += of_experts[expert];
  return rows;
}

/// Splits a rank into its indices, axis by axis, the fastest-varying first.
class Digits {
 public:
  explicit Digits(int rank) : rank_{rank} {}

  int take(int size) {
    const int digit = rank_ % size;
    rank_ /= size;
    return digit;
  }

 private:
  int rank_;
};

}  // namespace

RankPlace place_of(const Layout& layout, int gpus, int rank) {
  RankPlace place;
  const int data = gpus / layout.model_parallel_ranks();
  Digits digits{rank};
  int replicas = 1;  // product of the replica axes so far
  const auto among_replicas = [&](int coordinate, int size) {
    place.replica += coordinate * replicas;
    replicas *= size;
    return coordinate;
  };
  for (const auto axis : layout.order) {
    if (axis == RankAxis::tensor) place.tensor = digits.take(layout.tensor);
    if (axis == RankAxis::context)
      place.context = among_replicas(digits.take(layout.context), layout.context);
    if (axis == RankAxis::data) place.data = among_replicas(digits.take(data), data);
    if (axis == RankAxis::pipeline) place.pipeline = digits.take(layout.pipeline);
  }
  Digits of_experts{rank};
  const int expert_data = gpus / (layout.expert_tensor * layout.expert * layout.pipeline);
  for (const auto axis : layout.order) {
    if (axis == RankAxis::tensor) place.expert_tensor = of_experts.take(layout.expert_tensor);
    if (axis == RankAxis::expert) place.expert = of_experts.take(layout.expert);
    if (axis == RankAxis::data) place.expert_data = of_experts.take(expert_data);
    if (axis == RankAxis::pipeline) of_experts.take(layout.pipeline);
  }
  return place;
}

std::vector<double> expert_imbalances(const Layout& layout, int experts) {
  if (layout.expert == 1) return {1};
  std::vector<double> imbalances;
  for (const auto& layer : layout.expert_rows)
    imbalances.push_back(busiest_over_mean(rows_by_rank(layer, layout.expert)));
  if (!imbalances.empty()) return imbalances;
  if (experts == 0 || layout.expert_skew == 0) return {layout.expert_imbalance};
  const auto skewed = busiest_over_mean(skewed_rows(layout.expert_skew, experts, layout.expert));
  return {std::max(layout.expert_imbalance, skewed)};
}

}  // namespace gradway
