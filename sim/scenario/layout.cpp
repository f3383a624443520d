// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/layout.hpp"

namespace gradway {
namespace {

/// Splits a rank into its indices, axis by axis, the fastest-varying first.
class Digits {
 public:
  explicit Digits(int rank) : rank_{rank} {}

  int take(int size) {
    const int at = rank_ % size;
    rank_ /= size;
    return at;
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
  const auto among_replicas = [&](int at, int size) {
    place.replica += at * replicas;
    replicas *= size;
    return at;
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

}  // namespace gradway
