// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/sides.hpp"

#include <cmath>

#include "sim/cost/side_by_side.hpp"

namespace gradway {

Sides::Sides(const Scenario& scenario, const CollectiveLowering& collectives)
    : collectives_{collectives},
      usual_{KernelClass::matrix, scenario.job.precision, 0, 0},
      multiprocessors_{scenario.platform.gpu_models.front().multiprocessors} {}

std::uint32_t Sides::of_collectives(OpGraph& graph, const std::vector<std::uint32_t>& ranks) const {
  const auto* entry = collectives_.side_by_side(usual_);
  if (!entry) return Op::absent;
  return graph.add_side({Side::Kind::collective, entry->collective_slowdown, ranks});
}

Sides::Weight Sides::weigh(const Footprint& kernel) const {
  const auto* entry = collectives_.side_by_side(kernel);
  if (!entry) return {};
  if (entry->channels == 0)
    return {static_cast<int>(std::lround(entry->kernel_slowdown * 1000)), false, false};
  const auto channels = collectives_.communicator_channels();
  const double slowdown = entry->kernel_slowdown * wave_slowdown(kernel, multiprocessors_, channels);
  return {static_cast<int>(std::lround(slowdown * 1000)), holds_back(kernel, multiprocessors_, channels),
          false};
}

std::uint32_t Sides::of_kernel(OpGraph& graph, std::uint32_t rank,
                               const std::optional<Footprint>& footprint) {
  const auto kernel = footprint.value_or(usual_);
  auto weight = weights_.find(kernel);
  if (weight == weights_.end()) weight = weights_.emplace(kernel, weigh(kernel)).first;
  if (weight->second.is_free) return Op::absent;
  const auto [side, is_new] = known_.try_emplace({rank, weight->second}, 0);
  if (is_new) {
    side->second = graph.add_side(
        {Side::Kind::kernel, weight->second.thousandths / 1000.0, {rank}, weight->second.holds});
  }
  return side->second;
}

}  // namespace gradway
