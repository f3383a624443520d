// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/sides.hpp"

#include <cmath>

#include "sim/cost/contention.hpp"

namespace gradway {

Sides::Sides(const Scenario& scenario)
    : usual_{KernelClass::matrix, scenario.job.precision, 0, 0},
      multiprocessors_{scenario.platform.gpu_models.front().multiprocessors} {}

std::uint32_t Sides::of_collectives(OpGraph& graph, const Communicator& communicator,
                                    const std::vector<std::uint32_t>& actors) const {
  const auto* entry = communicator.contention(usual_);
  if (!entry) return Op::absent;
  return graph.add_contender({Contender::Kind::collective, entry->collective_slowdown, actors});
}

Sides::Weight Sides::weigh(const Footprint& kernel, const Communicator& communicator) const {
  const auto* entry = communicator.contention(kernel);
  if (!entry) return {};
  if (entry->channels == 0)
    return {static_cast<int>(std::lround(entry->kernel_slowdown * 1000)), false, false};
  const auto channels = communicator.channels();
  const double slowdown = entry->kernel_slowdown * wave_slowdown(kernel, multiprocessors_, channels);
  return {static_cast<int>(std::lround(slowdown * 1000)),
          blocks_collective(kernel, multiprocessors_, channels), false};
}

std::uint32_t Sides::of_kernel(OpGraph& graph, std::uint32_t actor, const std::optional<Footprint>& footprint,
                               const std::vector<const Communicator*>& communicators) {
  const auto kernel = footprint.value_or(usual_);
  Weight most;
  for (const auto* communicator : communicators) {
    auto weight = weights_.find({communicator, kernel});
    if (weight == weights_.end())
      weight = weights_.emplace(std::pair{communicator, kernel}, weigh(kernel, *communicator)).first;
    most = std::max(most, weight->second);
  }
  if (most.is_free) return Op::absent;
  const auto [side, is_new] = known_.try_emplace({actor, most}, 0);
  if (is_new)
    side->second =
        graph.add_contender({Contender::Kind::kernel, most.thousandths / 1000.0, {actor}, most.holds});
  return side->second;
}

}  // namespace gradway
